import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { messagesDialect } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import type { CatalogEntry } from '../../host/common/catalog.ts';
import type { ChatRequest, ProviderModule } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';

const entry = (capabilities: Record<string, boolean>, most = 0): CatalogEntry =>
  ({ capabilities, max_output_tokens: most }) as unknown as CatalogEntry;
/** A shipped provider, or one that states nothing of its chats. */
function target(provider: string, more: Partial<TargetFacts> & { readonly model?: string } = {}): TargetFacts {
  const { model = 'x', ...facts } = more;
  const module = MODULES.find(({ kind, name }) => kind === 'provider' && name === provider) as
    | ProviderModule
    | undefined;
  const traits = module?.chatTraitsFor?.(model) ?? module?.chatTraits ?? {};
  const wire = traits.wire ?? module?.wire ?? 'common';
  return { provider, wire, traits, entry: undefined, facts: {}, streaming: false, ...facts };
}
const THINKER = { entry: entry({ reasoning: true }) };
const NATIVE = { wire: 'native' } as const;

const BODY = { model: 'm', max_tokens: 64_000, messages: [{ role: 'user', content: 'hi' }] };

/** What a target gets of a body, and what it does not. */
function adapted(more: object, facts: TargetFacts): { request: ChatRequest; lost: readonly string[] } {
  const body = { ...BODY, ...more };
  const { request, notes } = readMessages(body, undefined);
  expect(notes.refusal).to.equal(undefined);
  return messagesDialect(notes.history).adapt(request, facts, body);
}

describe('a request of the Messages wire for one target', () => {
  it('asks for no more tokens than the model can answer with', () => {
    expect(adapted({}, target('openai', { entry: entry({}, 8192) })).request.max_tokens).to.equal(8192);
    expect(adapted({}, target('openai')).request.max_tokens).to.equal(64_000);
  });

  for (const [what, more, effort] of [
    ['a small budget', { thinking: { type: 'enabled', budget_tokens: 2048 } }, 'low'],
    ['a budget', { thinking: { type: 'enabled', budget_tokens: 8192 } }, 'medium'],
    ['a large budget', { thinking: { type: 'enabled', budget_tokens: 16_384 } }, 'high'],
    ['a larger budget', { thinking: { type: 'enabled', budget_tokens: 24_576 } }, 'xhigh'],
    ['the largest budget', { thinking: { type: 'enabled', budget_tokens: 24_577 } }, 'max'],
    ['an effort', { output_config: { effort: 'xhigh' } }, 'xhigh'],
    ['an effort beside adaptive thinking', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, 'low'],
    ['adaptive thinking', { thinking: { type: 'adaptive' } }, undefined],
  ] as const) {
    it(`reasons with ${what}, where the model does`, () => {
      const { request, lost } = adapted(more, target('openai', THINKER));
      expect([request.reasoning_effort, lost]).to.deep.equal([effort, []]);
      const plain = adapted(more, target('openai'));
      expect(plain.request.reasoning_effort).to.equal(undefined);
      expect(plain.lost).to.deep.equal([
        ...('thinking' in more ? ['thinking'] : []),
        ...('output_config' in more ? ['output_config.effort'] : []),
      ]);
    });
  }

  it('does not reason where that is switched off: native wires get a word for it', () => {
    for (const type of ['disabled', 'between_tools']) {
      expect(adapted({ thinking: { type } }, target('gemini', NATIVE)).request.reasoning_effort).to.equal('none');
      expect(adapted({ thinking: { type } }, target('openai', THINKER)))
        .to.deep.include({ lost: [] })
        .and.not.have.nested.property('request.reasoning_effort');
    }
  });

  it('names a service tier to those that have one', () => {
    for (const provider of ['openai', 'groq'])
      expect(adapted({ service_tier: 'standard_only' }, target(provider)).request['service_tier']).to.equal('default');
    expect(adapted({ service_tier: 'auto' }, target('mistral')).lost).to.deep.equal(['service_tier']);
  });

  it('marks caches where the target reads marks, and says where they are lost', () => {
    const body = {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }],
      tools: [{ name: 'n', input_schema: {}, cache_control: { type: 'ephemeral' } }],
    };
    expect(JSON.stringify(adapted(body, target('openrouter')).request)).to.include('cache_control');
    for (const [provider, lost] of [
      ['openai', []],
      ['mistral', ['messages[0].content[0].cache_control', 'tools[0].cache_control']],
    ] as const) {
      const { request, lost: named } = adapted(body, target(provider));
      expect(JSON.stringify(request)).to.not.include('cache_control');
      expect(named).to.deep.equal(lost);
    }
  });

  it('keeps instructions in their place for those that take them there', () => {
    const body = {
      system: 'a',
      messages: [
        { role: 'user', content: 'b' },
        { role: 'system', content: 'c' },
      ],
    };
    for (const provider of ['openai', 'azure-openai', 'openrouter', 'xai', 'deepseek']) {
      const { request, lost } = adapted(body, target(provider));
      expect([request.messages.map(({ role }) => role), lost], provider).to.deep.equal([
        ['system', 'user', 'system'],
        [],
      ]);
    }
    for (const late_system of [true, false])
      expect(
        adapted(body, target('openai', { facts: { late_system } })).request.messages.at(-1)?.role,
        'what is known of the model counts first',
      ).to.equal(late_system ? 'system' : 'user');
    expect(adapted(body, target('groq'))).to.deep.include({ lost: ['messages[1].role'] });
    expect(adapted(body, target('groq')).request.messages).to.deep.equal([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'user', content: '<system>\nc\n</system>' },
    ]);
  });

  it('tells only native wires that a tool failed', () => {
    const body = {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'a', is_error: true }] },
      ],
    };
    expect(adapted(body, target('gemini', NATIVE)).request.messages[1]).to.include({ is_error: true });
    expect(adapted(body, target('openai')).request.messages[1]).to.not.have.property('is_error');
  });

  it('refuses documents by their address for targets of the common wire', () => {
    const body = {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'document', source: { type: 'url', url: 'https://h/a.pdf' } },
          ],
        },
      ],
    };
    expect(() => adapted(body, target('openai'))).to.throw('messages[0].content[1].source');
    expect(adapted(body, target('gemini', NATIVE)).lost).to.deep.equal([]);
  });
});
