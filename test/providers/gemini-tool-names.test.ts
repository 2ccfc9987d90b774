import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { ChatRequest } from '../../host/contract/index.ts';
import gemini from '../../providers/gemini/index.ts';
import { toolNames } from '../../providers/gemini/tool-names.ts';
import { answeredBy, callFor, Dice, openSse, replyJson, sentBy, startHost, stubUpstream } from '../kit/index.ts';

const FITS = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;
const LONG = 'a'.repeat(70);
const digest = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 8);

const request = (names: readonly string[], more: object = {}): ChatRequest => ({
  model: 'gemini-2.5-flash',
  messages: [{ role: 'user', content: 'hi' }],
  tools: names.map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: {} } },
  })),
  ...more,
});
const declared = async (asked: ChatRequest): Promise<string[]> =>
  (await sentBy(gemini, 'chat', asked)).body.tools[0].functionDeclarations.map(({ name }: any) => name);

describe('names of functions at gemini', () => {
  it('that fit are sent as they are', async () => {
    const names = ['tide', '_x', 'a.b:c-d_9', 'b'.repeat(64)];
    expect(await declared(request(names))).to.deep.equal(names);
  });

  it('that do not fit are written as the vendor takes them', async () => {
    expect(await declared(request(['1st', '-x', 'a/b', 'Grüße', 'a b', 'c/d', 'c_d']))).to.deep.equal([
      '_1st',
      '_-x',
      `a_b_${digest('a/b')}`,
      'Gr__e',
      `a_b_${digest('a b')}`,
      `c_d_${digest('c/d')}`,
      'c_d',
    ]);
    const [long = ''] = await declared(request([LONG]));
    expect(long)
      .to.match(FITS)
      .and.equal(`${'a'.repeat(55)}_${digest(LONG)}`);
  });

  it('are the same in declarations, history, choice, results and answers', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'get/tide', arguments: '{}' } };
    const asked = request(['get/tide'], {
      tool_choice: { type: 'function', function: { name: 'get/tide' } },
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'high' },
      ],
    });
    const { body } = await sentBy(gemini, 'chat', asked);
    expect(JSON.stringify(body)).to.not.include('get/tide');
    expect(body.toolConfig.functionCallingConfig.allowedFunctionNames).to.deep.equal(['get_tide']);
    expect(
      body.contents
        .flatMap(({ parts }: any) => parts)
        .flatMap((part: any) => (part.functionCall ?? part.functionResponse)?.name ?? []),
    ).to.deep.equal(['get_tide', 'get_tide']);
    const answer = {
      candidates: [{ content: { parts: [{ functionCall: { name: 'get_tide', args: {} } }] }, finishReason: 'STOP' }],
    };
    const whole = await answeredBy(gemini, 'chat', asked, answer);
    expect(whole.choices[0].message.tool_calls[0].function.name).to.equal('get/tide');
    const { openStream } = gemini.translators.chat ?? {};
    const decode = typeof openStream === 'function' ? openStream(callFor('gemini-2.5-flash'), asked) : undefined;
    const [chunk] = decode?.({ type: '', data: JSON.stringify(answer) }) ?? [];
    expect(chunk?.choices[0]?.delta.tool_calls?.[0]?.function?.name).to.equal('get/tide');
  });

  it('come back to clients of other wires, whole and streamed, also those that are too long', async () => {
    const name = `-${'a'.repeat(80)}`;
    const upstream = await stubUpstream((seen, response) => {
      const { tools } = seen.json() as any;
      const [{ name: asked }] = tools[0].functionDeclarations;
      const parts = [{ functionCall: { name: asked, args: {} } }];
      const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
      if (!seen.url.includes('stream')) replyJson(response, 200, answer);
      else {
        openSse(response);
        response.end(`data: ${JSON.stringify(answer)}\n\n`);
      }
    });
    const host = await startHost(
      { targets: [{ virtual_key: 'gemini', models: ['gemini-2.5-flash'] }] },
      { variables: { GEMINI_API_KEY: 'vendor-key-0123456789', GEMINI_BASE_URL: `${upstream.url}/v1beta` } },
    );
    for (const stream of [false, true]) {
      const answer = await host.post('/v1/messages', {
        model: 'gemini-2.5-flash',
        max_tokens: 9,
        stream,
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ name, input_schema: { type: 'object' } }],
      });
      expect(answer.text, String(stream)).to.include(`"name":"${name}"`);
    }
    expect(upstream.seen.map((seen) => (seen.json() as any).tools[0].functionDeclarations[0].name)).to.satisfy(
      (names: string[]) => names.length === 2 && names.every((each) => FITS.test(each)),
    );
  });

  it('are taken by the vendor, and never two the same, whatever they are', () => {
    const dice = new Dice(7100);
    for (let turn = 0; turn < 300; turn += 1) {
      const names = [...new Set(Array.from({ length: 1 + dice.below(6) }, () => nameOf(dice)))];
      const written = toolNames(request(names));
      const vendors = names.map((name) => written.toVendor(name));
      for (const vendor of vendors) expect(vendor, JSON.stringify(names)).to.match(FITS);
      expect(new Set(vendors).size, JSON.stringify(names)).to.equal(names.length);
      expect(vendors.map((name) => written.toOwn(name))).to.deep.equal(names);
    }
  });
});

function nameOf(dice: Dice): string {
  const length = dice.pick([1, 2, 3, 63, 64, 65, 80]);
  return Array.from({ length }, (_each, at) =>
    at < 3 || length < 5 ? dice.pick(['a', 'b', '_', '-', '/', ' ', '1', 'é', '.']) : 'a',
  ).join('');
}
