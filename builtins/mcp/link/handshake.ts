import { nextRound, nextTurn } from '../../../host/common/next-turn.ts';
import { type Fields, isFields, isText } from '../../../host/contract/index.ts';
import type { ServerTool } from '../../../host/pipeline/tool-servers.ts';
import type { Cancellation } from '../../../host/upstream/cancellation.ts';
import type { Link } from './link.ts';
import { KNOWN_VERSIONS, MAX_MESSAGE_BYTES, PROTOCOL_VERSION, ToolServerError } from './rpc.ts';

/** Pages of one list of tools. See docs/mcp.md#servers. */
const MAX_PAGES = 1024;

export interface HandshakeOptions {
  readonly limitMs: number;
  readonly gatewayVersion: string;
  readonly cancellation?: Cancellation;
  /** Called with a version that is not known, where it is used all the same. */
  readonly onUnknownVersion: (version: string) => void;
}

/** Agrees with a server on a version, and tells it so. */
export async function shakeHands(
  link: Link,
  { limitMs, gatewayVersion, cancellation, onUnknownVersion }: HandshakeOptions,
): Promise<void> {
  const params = {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'gw', version: gatewayVersion },
  };
  const { protocolVersion } = await link.request({ method: 'initialize', params, limitMs, cancellation });
  const version = isText(protocolVersion) ? protocolVersion.slice(0, 64) : '';
  if (!KNOWN_VERSIONS.has(version)) {
    if (!link.takesAnyVersion)
      throw new ToolServerError(
        'failed',
        `the server speaks the protocol version "${version}", which is not known here`,
      );
    onUnknownVersion(version);
  }
  link.useVersion(KNOWN_VERSIONS.has(version) || /^[\w.-]+$/.test(version) ? version : PROTOCOL_VERSION);
  link.notify('notifications/initialized');
}

/** All tools of a server, whatever pages it gives them in. */
export async function listTools(
  link: Link,
  { limitMs, cancellation }: Pick<HandshakeOptions, 'limitMs' | 'cancellation'>,
): Promise<readonly ServerTool[]> {
  const tools = new Map<string, ServerTool>();
  let cursor: string | undefined;
  let bytes = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await link.request({
      method: 'tools/list',
      params: cursor === undefined ? {} : { cursor },
      limitMs,
      cancellation,
    });
    await nextRound();
    bytes += Buffer.byteLength(JSON.stringify(result));
    if (bytes > MAX_MESSAGE_BYTES)
      throw new ToolServerError('failed', `the list of tools exceeds the limit of ${MAX_MESSAGE_BYTES} bytes`);
    await nextTurn();
    for (const tool of toolsIn(result)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    await nextTurn();
    if (!isText(result['nextCursor'])) return [...tools.values()];
    cursor = result['nextCursor'];
  }
  throw new ToolServerError('failed', `the list of tools has more than ${MAX_PAGES} pages`);
}

/** What has no name cannot be called; what has no schema takes anything. */
function toolsIn({ tools }: Fields): ServerTool[] {
  if (!Array.isArray(tools)) throw new ToolServerError('failed', 'the server answered tools/list without a list');
  return tools.flatMap((tool: unknown) => {
    if (!isFields(tool) || !isText(tool['name'])) return [];
    const { inputSchema, description } = tool;
    const { description: _description, ...known } = tool;
    return [
      {
        ...known,
        name: tool['name'],
        inputSchema: isFields(inputSchema) ? inputSchema : { type: 'object' },
        ...(isText(description) && { description }),
      },
    ];
  });
}
