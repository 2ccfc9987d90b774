import { useState } from 'react';
import { SearchX } from 'lucide-react';
import { rowsIn } from '../../lib/fields.ts';
import { count } from '../../lib/format.ts';
import { useSearch } from '../../lib/use-search.ts';
import { Button } from '../../ui/button.tsx';
import { Filters, SelectField, TextField } from '../../ui/form.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, FailureBanner, Loaded } from '../../ui/states.tsx';
import { ModelsDialog } from './models-dialog.tsx';
import { type Provider, type ProviderOrder, providersOf, sortProviders, STATES } from './provider-states.ts';
import type { ProviderReadings } from './use-providers.ts';

const ORDERS: readonly (readonly [ProviderOrder, string])[] = [
  ['state', 'State'],
  ['name', 'Name'],
  ['models', 'Models'],
];

/** Every provider of this build, set up or not, and those of modules beside it. */
export function ProviderCards({ readings }: { readonly readings: ProviderReadings }) {
  const { catalog, deep, health, models, listed } = readings;
  const [search, setSearch] = useSearch();
  const order = ORDERS.find(([value]) => value === search.get('sort'))?.[0] ?? 'state';
  const text = search.get('q') ?? '';
  const failed = [deep, health, models, listed].find(({ error }) => error !== null);
  return (
    <>
      <Filters label="Filters">
        <TextField
          label="Find a provider"
          type="search"
          placeholder="Name"
          value={text}
          onChange={(event) => setSearch({ q: event.target.value }, { replace: true })}
        />
        <SelectField
          label="Sort by"
          value={order}
          onChange={(event) => setSearch({ sort: event.target.value === 'state' ? undefined : event.target.value })}
        >
          {ORDERS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
      </Filters>
      {failed && catalog.data && <FailureBanner reading={failed} what="The state of providers" />}
      <Loaded reading={catalog} what="Providers">
        {(data) => (
          <Cards
            providers={sortProviders(
              providersOf({
                catalog: data,
                deep: deep.data,
                health: health.data,
                models: rowsIn(models.data?.data),
                listed: rowsIn(listed.data),
              }),
              order,
            )}
            text={text}
          />
        )}
      </Loaded>
    </>
  );
}

function Cards({ providers, text }: { readonly providers: readonly Provider[]; readonly text: string }) {
  const [openName, setOpenName] = useState<string>();
  const found = providers.filter(({ name }) => name.includes(text.trim().toLowerCase()));
  const opened = providers.find(({ name }) => name === openName);
  return (
    <>
      <p className="match-count" role="status">
        {found.length === providers.length
          ? count(providers.length, 'provider')
          : `${found.length} of ${count(providers.length, 'provider')}`}
        , {count(providers.filter(({ state }) => state === 'connected').length, 'connected', 'connected')}
      </p>
      {found.length === 0 ? (
        <Empty icon={SearchX} title="No provider fits">
          Try a part of its name.
        </Empty>
      ) : (
        <ul className="provider-grid">
          {found.map((provider) => (
            <Card key={provider.name} provider={provider} onOpen={() => setOpenName(provider.name)} />
          ))}
        </ul>
      )}
      {opened && <ModelsDialog provider={opened} onClose={() => setOpenName(undefined)} />}
    </>
  );
}

function Card({
  provider: { name, state, message, models, modelCount },
  onOpen,
}: {
  readonly provider: Provider;
  readonly onOpen: () => void;
}) {
  const { name: stateName, tone } = STATES[state];
  return (
    <li className="provider" data-state={state}>
      <div className="provider-head">
        <h2 className="provider-name">{name}</h2>
        <Pill tone={tone} hasDot>
          {stateName}
        </Pill>
      </div>
      {message !== undefined && <p className="provider-message">{message}</p>}
      <div className="provider-foot">
        <span className="muted">
          {count(modelCount, 'model')}
          {state === 'absent' ? ' in the catalog' : ''}
        </span>
        {models.length > 0 && (
          <Button size="small" onClick={onOpen} aria-label={`Show models of ${name}`}>
            Show models
          </Button>
        )}
      </div>
    </li>
  );
}
