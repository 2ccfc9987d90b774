import { usePolled } from '../../api/polling.ts';
import { rowsIn } from '../../lib/fields.ts';
import { useApi } from '../../services.ts';
import { Panel } from '../../ui/panel.tsx';
import { Banner } from '../../ui/states.tsx';
import { AliasForm } from './alias-form.tsx';
import { fieldsOf, readText } from './document-text.ts';
import type { Draft } from './draft.ts';
import { GroupForm } from './group-form.tsx';
import { MODES } from './modes.ts';
import { blockAt, shown, withInner } from '../../lib/form-values.ts';
import { PluginForm } from './plugin-form.tsx';
import { ProviderForm } from './provider-form.tsx';
import { TargetForm } from './target-form.tsx';
import { TypedField } from './typed-field.tsx';

/** The parts that change most, as fields. It writes into the same draft as the editor; everything else of it stays. */
export function ConfigForm({ draft, canWrite }: { readonly draft: Draft; readonly canWrite: boolean }) {
  const api = useApi();
  const providers = usePolled<{ readonly providers: readonly { readonly id: string }[] }>({
    key: ['providers', 'catalog'],
    read: (signal) => api.json('/admin/providers/catalog', { signal }),
  });
  const plugins = usePolled<{ readonly data: readonly { readonly name: string }[] }>({
    key: ['plugins', 'catalog'],
    read: (signal) => api.json('/admin/plugins/catalog', { signal }),
  });
  const reading = readText(draft.text, draft.language);
  if (!reading.isRead)
    return (
      <Banner tone="bad">
        The document cannot be read: {reading.message}. Mend it in the editor, or discard the changes.
      </Banner>
    );
  const config = fieldsOf(reading.value);
  const part = { config, canWrite, onChange: draft.setValue };
  const kinds = rowsIn(providers.data?.providers).map(({ id }) => id);
  const mode = fieldsOf(config['strategy'])['mode'];
  return (
    <>
      <Panel title="Strategy" description="Its rules and variants are written in the editor.">
        <TypedField
          label="Mode"
          value={shown(mode)}
          suggestions={MODES}
          isDisabled={!canWrite}
          onCommit={(text) => draft.setValue(withInner(config, 'strategy', 'mode', text.trim() || undefined))}
        />
      </Panel>
      <ProviderForm {...part} />
      <TargetForm {...part} providers={[...Object.keys(blockAt(config, 'providers')), ...kinds]} />
      <GroupForm {...part} />
      <AliasForm {...part} />
      <PluginForm {...part} catalog={rowsIn(plugins.data?.data).map(({ name }) => name)} />
    </>
  );
}
