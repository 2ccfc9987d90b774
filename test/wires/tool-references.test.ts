import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { MESSAGES } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { textsOf } from '../../builtins/wires/messages/texts.ts';
import { RESPONSES_DIALECT } from '../../builtins/wires/responses/dialect.ts';
import { readResponses } from '../../builtins/wires/responses/request.ts';
import { shortName } from '../../builtins/wires/tool-names.ts';
import type { ChatRequest } from '../../host/contract/index.ts';
import { replyJson } from '../kit/index.ts';
import { EVERY_TARGET, type EveryTarget } from './every-target.ts';
import { crossWire, hello, sameWire, saying, vendorMessage } from './messages-kit.ts';

const LONG = `mcp__${'a_server_with_a_long_name_'.repeat(3)}__read_file`;
const NAMES = ['read_file', LONG];
const SEARCH = { name: 'ToolSearch', input_schema: { type: 'object' } };
const found = (tool_name: unknown, more: object = {}): object => ({ type: 'tool_reference', tool_name, ...more });

/** Blocks of results in the types of the official library, and how a target of another wire is asked with them. */
const RESULT_BLOCKS: Readonly<Record<string, { readonly block: object; readonly status: number }>> = {
  BetaTextBlockParam: { block: { type: 'text', text: 'a' }, status: 200 },
  BetaImageBlockParam: {
    block: { type: 'image', source: { type: 'url', url: 'https://vendor.example/pixel.png' } },
    status: 200,
  },
  BetaSearchResultBlockParam: {
    block: { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'a' }] },
    status: 200,
  },
  BetaRequestDocumentBlock: {
    block: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } },
    status: 200,
  },
  BetaToolReferenceBlockParam: { block: found('write_file'), status: 200 },
  BetaBrowserStateBlockParam: { block: { type: 'browser_state', url: 'https://vendor.example' }, status: 400 },
};

/** What a client says when its search of tools has found these: the search is answered by them, and they are among the tools. */
const searched = (content: readonly object[], names: readonly string[] = NAMES): object => ({
  tools: [SEARCH, ...names.map((name) => ({ name, input_schema: { type: 'object' }, defer_loading: true }))],
  messages: [
    { role: 'user', content: 'read it' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'ToolSearch', input: { query: 'read' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content }] },
  ],
});

function adapted(more: object, { facts }: EveryTarget): ChatRequest {
  const body = { ...hello, ...more };
  const { request, notes } = readMessages(body, undefined);
  expect(notes.refusal).to.equal(undefined);
  return MESSAGES.adapt(request, facts, body).request;
}

describe('references of tools in results', () => {
  for (const target of EVERY_TARGET)
    it(`are texts, in order, with the names that ${target.name} gets: ${target.model}`, () => {
      const request = adapted(searched(NAMES.map((name) => found(name))), target);
      const own = target.facts.traits.longToolNames ? LONG : shortName(LONG);
      const content = request.messages.at(-1)?.content;
      expect(content).to.deep.equal([
        { type: 'text', text: 'Tool loaded: read_file' },
        { type: 'text', text: `Tool loaded: ${own}` },
      ]);
      expect(request.tools?.map((tool) => tool.function?.name)).to.deep.equal(['ToolSearch', 'read_file', own]);
      const body = target.bodyOf(request);
      if (body === undefined) return; // a model without tools
      expect(body).to.match(new RegExp(`Tool loaded: read_file.*Tool loaded: ${own}\\b`));
      expect(body.includes(LONG)).to.equal(own === LONG);
      expect(body).to.not.include('tool_reference').and.not.include('tool_name');
    });

  it('keep their marks, stand beside other blocks, and may be alone', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const claude = EVERY_TARGET.find(({ name }) => name === 'anthropic') as EveryTarget;
    const contentOf = (content: readonly object[]): unknown =>
      adapted(searched(content), claude).messages.at(-1)?.content;
    expect(contentOf([found('read_file', mark)])).to.deep.equal([
      { type: 'text', text: 'Tool loaded: read_file', ...mark },
    ]);
    expect(contentOf([{ type: 'text', text: 'two:' }, found('read_file')])).to.deep.equal([
      { type: 'text', text: 'two:' },
      { type: 'text', text: 'Tool loaded: read_file' },
    ]);
    expect(contentOf([found(LONG)])).to.equal(`Tool loaded: ${LONG}`);
  });

  it('alone are shortened too, and no other text is', () => {
    const openai = EVERY_TARGET.find(({ name }) => name === 'openai') as EveryTarget;
    const messages = adapted(
      {
        ...searched([found(LONG)]),
        messages: [
          ...(searched([found(LONG)]) as { messages: object[] }).messages,
          { role: 'user', content: `Tool loaded: ${LONG}` },
        ],
      },
      openai,
    ).messages;
    expect(messages.slice(2).map(({ content }) => content)).to.deep.equal([
      `Tool loaded: ${shortName(LONG)}`,
      `Tool loaded: ${LONG}`,
    ]);
  });

  it('answer through the gateway, and give the long name back', async () => {
    const { upstream, post } = await crossWire(
      saying({
        content: null,
        tool_calls: [{ id: 'd', type: 'function', function: { name: shortName(LONG), arguments: '{}' } }],
      }),
    );
    const answer = await post({ ...hello, ...searched([found(LONG)]) });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json().content[0]).to.include({ type: 'tool_use', name: LONG });
    const [sent] = upstream.seen;
    expect((sent?.json() as { messages?: object[] } | undefined)?.messages?.at(-1)).to.deep.equal({
      role: 'tool',
      tool_call_id: 'c',
      content: `Tool loaded: ${shortName(LONG)}`,
    });
  });

  it('go on untouched to the vendor itself', async () => {
    const { upstream, post } = await sameWire((_request, response) =>
      replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }])),
    );
    const body = JSON.stringify({ ...hello, ...searched([found(LONG), found('')]) });
    expect((await post(body)).status).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(body);
  });

  it('are read by guardrails, by their names alone', () => {
    expect(textsOf({ type: 'tool_result', tool_use_id: 'c', content: [found('read_file')] })).to.deep.equal([
      'read_file',
    ]);
  });

  it('of a Responses client have the names that the target gets', () => {
    const body = {
      model: 'm',
      input: [
        { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'read' } },
        {
          type: 'tool_search_output',
          call_id: 'c',
          execution: 'client',
          tools: NAMES.map((name) => ({ type: 'function', name })),
        },
        { type: 'function_call', call_id: 'd', name: 'read_file', arguments: '{}' },
        { type: 'function_call_output', call_id: 'd', output: LONG },
      ],
    };
    for (const { facts, name } of EVERY_TARGET) {
      const { request } = RESPONSES_DIALECT.adapt(readResponses(body).request, facts, body);
      const own = facts.traits.longToolNames ? LONG : shortName(LONG);
      expect(
        request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
        name,
      ).to.deep.equal([`read_file\n${own}`, LONG]);
      expect(request.tools?.map((tool) => tool.function?.name)).to.deep.equal(['read_file', own]);
    }
  });

  it('stand in results beside every other block that the official library knows there', async () => {
    const types = readFileSync(
      new URL('../../node_modules/@anthropic-ai/sdk/resources/beta/messages/messages.d.ts', import.meta.url),
      'utf8',
    );
    const [, union = ''] =
      /interface BetaToolResultBlockParam \{[^]*?content\?: string \| Array<([^>]*)>/.exec(types) ?? [];
    expect(union.split(' | ')).to.have.members(Object.keys(RESULT_BLOCKS));
    const { post } = await crossWire(saying({ content: 'ok' }));
    for (const [name, { block, status }] of Object.entries(RESULT_BLOCKS)) {
      const answer = await post({ ...hello, ...searched([found('read_file'), block]) });
      expect([name, answer.status], answer.text).to.deep.equal([name, status]);
      if (status === 400) expect(answer.json().error.message).to.match(/^messages\[2\]\.content\[0\]\.content\[1\]/);
    }
  });

  const turn = (content: readonly object[], role = 'user'): object => ({ messages: [{ role, content }] });
  for (const [what, more, path] of [
    ['without a name', searched([found(undefined)]), 'messages[2].content[0].content[0].tool_name'],
    ['with an empty name', searched([found('')]), 'messages[2].content[0].content[0].tool_name'],
    [
      'with a number for a name',
      searched([found('read_file'), found(7)]),
      'messages[2].content[0].content[1].tool_name',
    ],
    ['in what a user says', turn([found('read_file')]), 'messages[0].content[0]'],
    ['in what an assistant says', turn([found('read_file')], 'assistant'), 'messages[0].content[0]'],
  ] as const)
    it(`are refused ${what}`, async () => {
      const { upstream, post } = await crossWire(saying({ content: 'ok' }));
      const answer = await post({ ...hello, ...more });
      expect([answer.status, answer.json().error.message.startsWith(path)], answer.text).to.deep.equal([400, true]);
      expect(upstream.seen).to.have.length(0);
    });
});
