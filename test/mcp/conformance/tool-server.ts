/** A tool server on standard streams with the tools that the conformance suite asks for: their names and answers are the suite's. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = Buffer.from(
  'RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\0\0\0',
  'latin1',
).toString('base64');

const text = (words: string): object => ({ type: 'text', text: words });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, words: string): object => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
});

const CONTENT: Readonly<Record<string, readonly object[]>> = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_error_handling: [text('This tool intentionally returns an error for testing')],
  json_schema_2020_12_tool: [text('called')],
};

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

const server = new Server({ name: 'conformance tools', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(CONTENT).map((name) => ({
    name,
    description: `What the suite asks of ${name}`,
    inputSchema: name === 'json_schema_2020_12_tool' ? SCHEMA : { type: 'object' },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) => ({
  content: CONTENT[name] ?? [],
  ...(name === 'test_error_handling' && { isError: true }),
}));
await server.connect(new StdioServerTransport());
