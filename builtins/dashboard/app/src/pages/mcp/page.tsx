import { Plug } from 'lucide-react';
import { usePolled } from '../../api/polling.ts';
import type { DeepHealth, McpServerHealth } from '../../api/wire.ts';
import { DASH } from '../../lib/format.ts';
import { serverTone } from '../../lib/tones.ts';
import { useApi } from '../../services.ts';
import { CodeBlock } from '../../ui/copy.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { clientSnippet, SERVER_SNIPPET } from './snippets.ts';

const COLUMNS: readonly Column<McpServerHealth>[] = [
  { key: 'name', header: 'Server', cell: ({ name }) => <strong className="break">{name}</strong> },
  {
    key: 'state',
    header: 'State',
    cell: (server) => (
      <Pill tone={serverTone(server)} hasDot>
        {server.ready ? 'Ready' : 'Not ready'}
      </Pill>
    ),
  },
  {
    key: 'required',
    header: 'Required',
    cell: ({ required }) => (required ? 'Yes: without it the gateway is not ready' : 'No'),
  },
  { key: 'error', header: 'Last error', cell: ({ last_error }) => <span className="break">{last_error || DASH}</span> },
];

export default function McpPage() {
  const api = useApi();
  const reading = usePolled<DeepHealth>({
    key: ['health', 'deep'],
    read: (signal) => api.json('/admin/health', { signal }),
    everySeconds: 30,
  });
  return (
    <Page
      title="MCP Servers"
      description="Tool servers whose tools are offered to models, and how other programs call them through this gateway."
    >
      <Panel title="Tool servers" isFlush>
        <Loaded reading={reading} what="Tool servers">
          {({ mcp_servers: servers = [] }) =>
            servers.length === 0 ? (
              <Empty icon={Plug} title="No tool servers">
                List them under <code>mcp_servers</code> of the configuration; models are then offered their tools.
              </Empty>
            ) : (
              <Table label="Tool servers" columns={COLUMNS} rows={servers} rowKey={({ name }) => name} />
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Add a tool server" description="In the configuration. Secrets stay in the environment.">
        <CodeBlock label="Configuration of a tool server" text={SERVER_SNIPPET} />
      </Panel>
      <Panel
        title="Use the tools from another program"
        description="Any client of the Model Context Protocol over HTTP calls them here, with a key of this gateway."
      >
        <CodeBlock label="Configuration of a client" text={clientSnippet(api.origin)} />
      </Panel>
    </Page>
  );
}
