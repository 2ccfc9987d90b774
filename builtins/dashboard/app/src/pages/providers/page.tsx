import { useState } from 'react';
import { Plus } from 'lucide-react';
import { rowsIn } from '../../lib/fields.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useCanWrite } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Contained } from '../../ui/contained.tsx';
import { Page } from '../../ui/page.tsx';
import { Banner } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { CapabilityMatrix } from './capability-matrix.tsx';
import { InstanceEditor } from './instance-editor.tsx';
import { InstanceTable } from './instance-table.tsx';
import { instancesOf } from './instances.ts';
import { ProviderCards } from './provider-cards.tsx';
import { type ProviderReadings, useProviders } from './use-providers.ts';
import './providers.css';

export default function ProvidersPage() {
  const canWrite = useCanWrite();
  const [search, setSearch] = useSearch();
  const [edited, setEdited] = useState<{ readonly name?: string }>();
  const [notice, setNotice] = useState<string>();
  const tab = search.get('tab') === 'capabilities' ? 'capabilities' : 'providers';
  const actions = canWrite &&
    tab === 'providers' && {
      actions: (
        <Button icon={Plus} onClick={() => setEdited({})}>
          Add instance
        </Button>
      ),
    };
  return (
    <Page title="Providers" description="Where requests can go, and what each place understands." {...actions}>
      {notice !== undefined && <Banner tone="ok">{notice}</Banner>}
      <Tabs
        label="Views"
        value={tab}
        onChange={(value) => setSearch({ tab: value === 'providers' ? undefined : value })}
        tabs={[
          { value: 'providers', label: 'Providers', content: <Providers onChange={(name) => setEdited({ name })} /> },
          { value: 'capabilities', label: 'Capabilities', content: <CapabilityMatrix /> },
        ]}
      />
      {edited && canWrite && (
        <InstanceEditor
          {...edited}
          onSaved={(name) => {
            setEdited(undefined);
            setNotice(`The instance ${name} is in force.`);
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Page>
  );
}

/** The instances where the configuration declares any, and what the build and the environment have. */
function Providers({ onChange }: { readonly onChange: (name: string) => void }) {
  const readings = useProviders();
  const { deep, health, models, listed } = readings;
  return (
    <>
      <Contained what="Instances" of={[deep.data, health.data, models.data, listed.data]} onRetry={listed.retry}>
        <Instances readings={readings} onChange={onChange} />
      </Contained>
      <ProviderCards readings={readings} />
    </>
  );
}

/** Drawn inside what contains its failure. */
function Instances({
  readings: { deep, health, models, listed },
  onChange,
}: {
  readonly readings: ProviderReadings;
  readonly onChange: (name: string) => void;
}) {
  const instances = instancesOf({
    deep: deep.data,
    health: health.data,
    models: rowsIn(models.data?.data),
    listed: rowsIn(listed.data),
  });
  return instances.length === 0 ? null : <InstanceTable instances={instances} onChange={onChange} />;
}
