import { entry, flag, integer, list, text, textItem, textMap } from './schema-fields.ts';
import { shown } from './showing.ts';

const WITHHELD = shown({ as: 'withheld' });
const DEFAULT_BELOW_ONE = { bounds: '≤ 0 is the default' } as const;

/** One entry of `mcp_servers`. */
export const mcpServer = entry({
  name: text('what the server is called', { isRequired: true, bounds: 'not blank, each once' }),
  url: text('streamable HTTP; `${VAR}` in it is replaced', { bounds: 'either `url` or `command`' }).meta(
    shown({ as: 'address' }),
  ),
  headers: textMap('sent with every call').meta(WITHHELD),
  command: text('a program that speaks MCP on its standard streams; runs as long as the gateway', {
    bounds: 'either `url` or `command`',
  }),
  args: list('its arguments', textItem).meta(shown({ as: 'arguments' })),
  env: textMap('its environment, beside `PATH`, `HOME`, `LANG` and `TMPDIR`').meta(WITHHELD),
  allowed_tools: list('tools that may be used', textItem, { otherwiseSaid: 'all' }),
  max_call_depth: integer('turns of tool calls in a request; the smallest of all servers counts', {
    otherwise: 5,
    ...DEFAULT_BELOW_ONE,
  }),
  timeout_seconds: integer('for one tool call', { otherwise: 30, ...DEFAULT_BELOW_ONE }),
  max_result_bytes: integer("the text of a tool's result is cut here, with a mark at its end", {
    otherwise: 1_048_576,
    ...DEFAULT_BELOW_ONE,
  }),
  required: flag('the gateway is not ready while the server is not', { otherwise: false }),
});
