import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import type { Fields } from '../../lib/fields.ts';
import {
  blockAt,
  listOf,
  moved,
  numberOf,
  replaced,
  rowsAt,
  shown,
  withInner,
  withMember,
} from '../../lib/form-values.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Checkbox, SelectField } from '../../ui/form.tsx';
import { Panel } from '../../ui/panel.tsx';
import { MODES } from './modes.ts';
import type { PartProps } from './target-form.tsx';
import { TypedField } from './typed-field.tsx';

/** The entries of `models`: names that clients ask for, with the routes that serve them. */
export function GroupForm({ config, onChange, canWrite }: PartProps) {
  const groups = rowsAt(config, 'models');
  const targets = rowsAt(config, 'targets').map((target) => shown(target['virtual_key']));
  const set = (next: readonly Fields[]): void =>
    onChange(withMember(config, 'models', next.length === 0 ? undefined : next));
  const first = { name: freeName(groups), routes: [{ target: targets[0] ?? '' }] };
  return (
    <Panel
      title="Models"
      description="Groups: a name that clients ask for, and the routes that serve it. Other names go by the targets above."
      actions={
        canWrite && (
          <Button size="small" icon={Plus} onClick={() => set([...groups, first])}>
            Add group
          </Button>
        )
      }
    >
      {groups.length === 0 && <p className="muted">No groups.</p>}
      <div className="form-rows">
        {groups.map((group, at) => (
          <div key={at} className="form-group" role="group" aria-label={`Group ${at + 1}: ${shown(group['name'])}`}>
            <div className="form-row">
              <GroupFields group={group} canWrite={canWrite} onChange={(next) => set(replaced(groups, at, next))} />
              {canWrite && (
                <span className="form-row-tasks">
                  <IconButton
                    icon={Trash2}
                    label={`Remove the group ${shown(group['name'])}`}
                    onClick={() => set(groups.toSpliced(at, 1))}
                  />
                </span>
              )}
            </div>
            <RouteRows
              group={group}
              targets={targets}
              canWrite={canWrite}
              onChange={(next) => set(replaced(groups, at, next))}
            />
          </div>
        ))}
      </div>
    </Panel>
  );
}

function freeName(groups: readonly Fields[]): string {
  const taken = new Set(groups.map(({ name }) => name));
  for (let number = 1; ; number += 1) if (!taken.has(`group-${number}`)) return `group-${number}`;
}

interface GroupProps {
  readonly group: Fields;
  readonly canWrite: boolean;
  readonly onChange: (group: Fields) => void;
}

function GroupFields({ group, canWrite, onChange }: GroupProps) {
  const strategy = blockAt(group, 'strategy');
  const common = { isDisabled: !canWrite } as const;
  const affinity = shown(strategy['affinity']);
  return (
    <>
      <TypedField
        {...common}
        label="Name"
        value={shown(group['name'])}
        onCommit={(text) => onChange(withMember(group, 'name', text.trim()))}
      />
      <TypedField
        {...common}
        label="Mode"
        value={shown(strategy['mode'])}
        suggestions={MODES}
        onCommit={(text) => onChange(withInner(group, 'strategy', 'mode', text.trim() || undefined))}
      />
      <SelectField
        label="Affinity"
        value={affinity}
        disabled={!canWrite}
        onChange={(event) => onChange(withInner(group, 'strategy', 'affinity', event.target.value || undefined))}
      >
        <option value="">not written</option>
        {[...new Set(['off', 'session', affinity])].filter(Boolean).map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </SelectField>
      <TypedField
        {...common}
        label="Fallbacks"
        value={shown(group['fallbacks'])}
        onCommit={(text) => onChange(withMember(group, 'fallbacks', listOf(text)))}
      />
      <Checkbox
        label="Listed to clients"
        checked={group['listed'] !== false}
        disabled={!canWrite}
        onChange={(event) => onChange(withMember(group, 'listed', event.target.checked ? undefined : false))}
      />
    </>
  );
}

function RouteRows({ group, targets, canWrite, onChange }: GroupProps & { readonly targets: readonly string[] }) {
  const routes = rowsAt(group, 'routes');
  const set = (next: readonly Fields[]): void => onChange(withMember(group, 'routes', next));
  return (
    <div className="form-inner">
      {routes.map((route, at) => (
        <div key={at} className="form-row" role="group" aria-label={`Route ${at + 1}: ${shown(route['target'])}`}>
          <RouteFields
            route={route}
            targets={targets}
            canWrite={canWrite}
            onChange={(next) => set(replaced(routes, at, next))}
          />
          {canWrite && (
            <span className="form-row-tasks">
              <IconButton
                icon={ArrowUp}
                label={`Move route ${at + 1} up`}
                disabled={at === 0}
                onClick={() => set(moved(routes, at, -1))}
              />
              <IconButton
                icon={ArrowDown}
                label={`Move route ${at + 1} down`}
                disabled={at === routes.length - 1}
                onClick={() => set(moved(routes, at, 1))}
              />
              <IconButton icon={Trash2} label={`Remove route ${at + 1}`} onClick={() => set(routes.toSpliced(at, 1))} />
            </span>
          )}
        </div>
      ))}
      {canWrite && (
        <div>
          <Button size="small" icon={Plus} onClick={() => set([...routes, { target: targets[0] ?? '' }])}>
            Add route
          </Button>
        </div>
      )}
    </div>
  );
}

function RouteFields({
  route,
  targets,
  canWrite,
  onChange,
}: {
  readonly route: Fields;
  readonly targets: readonly string[];
  readonly canWrite: boolean;
  readonly onChange: (route: Fields) => void;
}) {
  const common = { isDisabled: !canWrite } as const;
  return (
    <>
      <TypedField
        {...common}
        label="Target"
        value={shown(route['target'])}
        suggestions={targets}
        onCommit={(text) => onChange(withMember(route, 'target', text.trim()))}
      />
      <TypedField
        {...common}
        label="Calls the model"
        value={shown(route['model'])}
        onCommit={(text) => onChange(withMember(route, 'model', text.trim() || undefined))}
      />
      <TypedField
        {...common}
        label="Weight"
        inputMode="decimal"
        value={shown(route['weight'])}
        onCommit={(text) => onChange(withMember(route, 'weight', numberOf(text)))}
      />
    </>
  );
}
