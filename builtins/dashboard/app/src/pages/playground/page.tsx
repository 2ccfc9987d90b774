import { usePolled } from '../../api/polling.ts';
import type { Capabilities, Model, ModelList } from '../../api/wire.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi, useCanWrite } from '../../services.ts';
import { Page } from '../../ui/page.tsx';
import { Banner, Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ChatView } from './chat/chat-view.tsx';
import { EmbeddingsView } from './embeddings-view.tsx';
import { ImagesView } from './images-view.tsx';
import './playground.css';

const TABS = ['chat', 'embeddings', 'images'] as const;

export default function PlaygroundPage() {
  const api = useApi();
  const canWrite = useCanWrite();
  const models = usePolled<ModelList>({ key: ['models'], read: (signal) => api.json('/v1/models', { signal }) });
  const capabilities = usePolled<Capabilities>({
    key: ['capabilities'],
    read: (signal) => api.json('/v1/capabilities', { signal }),
  });
  return (
    <Page title="Playground" description="Send requests through the gateway, as an application would.">
      {!canWrite && (
        <Banner tone="info">
          Your session is read only. Requests from here are sent, counted and paid for like any other.
        </Banner>
      )}
      <Loaded reading={models} what="Models">
        {({ data }) => <Views models={data} capabilities={capabilities.data} />}
      </Loaded>
    </Page>
  );
}

function Views({
  models,
  capabilities,
}: {
  readonly models: readonly Model[];
  readonly capabilities: Capabilities | undefined;
}) {
  const [search, setSearch] = useSearch();
  const tab = TABS.find((value) => value === search.get('tab')) ?? 'chat';
  return (
    <Tabs
      label="Kinds of request"
      value={tab}
      onChange={(value) => setSearch({ tab: value === 'chat' ? undefined : value })}
      tabs={[
        { value: 'chat', label: 'Chat', content: <ChatView models={models} capabilities={capabilities} /> },
        { value: 'embeddings', label: 'Embeddings', content: <EmbeddingsView models={models} /> },
        { value: 'images', label: 'Images', content: <ImagesView models={models} capabilities={capabilities} /> },
      ]}
    />
  );
}
