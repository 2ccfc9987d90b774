import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { atEnd, MASTER_KEY, startGateway, temporaryFolder } from '../../kit/index.ts';
import { eventually } from '../../kit/holdings.ts';

const program = (path: string): string =>
  fileURLToPath(new URL(`../../../node_modules/@modelcontextprotocol/${path}`, import.meta.url));

describe('the official client of the Model Context Protocol', () => {
  it('lists and calls the tools of real servers through a gateway process', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'files'));
    await writeFile(join(folder, 'files', 'note.txt'), 'what the note says');
    await writeFile(
      join(folder, 'config.json'),
      JSON.stringify({
        strategy: { mode: 'single' },
        targets: [{ virtual_key: 'echo' }],
        mcp_servers: [
          { name: 'everything', command: process.execPath, args: [program('server-everything/dist/index.js')] },
          {
            name: 'files',
            command: process.execPath,
            args: [program('server-filesystem/dist/index.js'), join(folder, 'files')],
            allowed_tools: ['read_text_file', 'list_directory'],
          },
        ],
      }),
    );
    const gateway = await startGateway({ cwd: folder, variables: { GATEWAY_CONFIG: join(folder, 'config.json') } });
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${MASTER_KEY}` } },
    });
    await client.connect(transport);
    atEnd(() => client.close());
    expect(client.getServerVersion()?.name).to.equal('gw');
    expect(client.getServerCapabilities()).to.deep.equal({ tools: { listChanged: false } });
    let names: string[] = [];
    const isReady = async (): Promise<boolean> => {
      names = (await client.listTools()).tools.map(({ name }) => name);
      return names.includes('echo') && names.includes('read_text_file');
    };
    await eventually(isReady, 20_000);
    expect(names).not.to.include('write_file');
    expect(await client.callTool({ name: 'echo', arguments: { message: 'hello' } })).to.deep.equal({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
    expect(
      JSON.stringify(
        await client.callTool({ name: 'read_text_file', arguments: { path: join(folder, 'files', 'note.txt') } }),
      ),
    ).to.contain('what the note says');
    const outside = await client.callTool({ name: 'read_text_file', arguments: { path: '/etc/hostname' } });
    expect(outside.isError).to.equal(true);
    const refusal: unknown = await client
      .callTool({ name: 'write_file', arguments: {} })
      .catch((error: unknown) => error);
    expect(refusal).to.include({ code: -32602 });
    await client.close();
    expect(await gateway.stop()).to.equal(0);
  });
});
