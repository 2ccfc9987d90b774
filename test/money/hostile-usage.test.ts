import { expect } from 'chai';
import { chatReply, openSse, replyJson, sseEvent } from '../kit/index.ts';
import { keyScene } from './kit.ts';

const TEXT = 'a text of forty characters, more or less.';
/** What the prompt and the text cost when they are guessed, in micro-dollars of gpt-4o. */
const GUESSED = { prompt: 2.5, answer: (TEXT.length / 4) * 10 };
const good = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const COST = { prompt: 250, answer: 200 };

/** Values as an upstream may write them; JSON has no other numbers than these. */
const NUMBERS: Readonly<Record<string, string>> = {
  negative: '-5',
  'far too large': '9007199254740991',
  infinite: '1e400',
  'minus infinite': '-1e400',
  text: '"12"',
  'a list': '[1]',
  'an object': '{"a":1}',
  true: 'true',
};

const written = (usage: object, name: string, value: string): string =>
  JSON.stringify({ ...usage, [name]: 'VALUE' }).replace('"VALUE"', value);

describe('usage that cannot be believed', () => {
  for (const stream of [false, true])
    for (const [what, value] of Object.entries(NUMBERS))
      for (const [name, expected] of [
        ['prompt_tokens', GUESSED.prompt + COST.answer],
        ['completion_tokens', COST.prompt + GUESSED.answer],
        ['total_tokens', COST.prompt + COST.answer],
        ['cache_read_tokens', undefined],
        ['reasoning_tokens', COST.prompt + COST.answer],
        ['cache_write_tokens', undefined],
        ['odd', COST.prompt + COST.answer],
      ] as const) {
        it(`is guessed, and the client is served: ${name} is ${what}, ${stream ? 'streamed' : 'whole'}`, async () => {
          const usage = written(good, name, value);
          const { send, booked, t } = await keyScene((seen, response) => {
            const reply = JSON.stringify(chatReply(TEXT, { usage: 'USAGE' })).replace('"USAGE"', usage);
            if (seen.json()['stream'] !== true) {
              response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
              return;
            }
            openSse(response);
            response.end(
              `${sseEvent({ id: 'c', choices: [{ index: 0, delta: { content: TEXT }, finish_reason: 'stop' }] })}data: {"id":"c","choices":[],"usage":${usage}}\n\n${sseEvent('[DONE]')}`,
            );
          });
          for (let time = 0; time < 2; time += 1) {
            const response = await send({ stream });
            expect(response.status).to.equal(200);
            expect(await response.text())
              .to.include(TEXT)
              .and.not.include('error');
          }
          const micro = await booked();
          if (expected !== undefined) expect(micro).to.be.within(Math.floor(2 * expected), Math.ceil(2 * expected));
          expect(micro).to.be.within(1, 2 * (COST.prompt + COST.answer));
          const lines = t.lines.filter(({ msg }) => msg === 'usage is not believed');
          if (name === 'prompt_tokens' || name === 'completion_tokens') {
            expect(lines).to.have.length(1);
            expect(lines[0]).to.include({ level: 'WARN', target: 'openai', model: 'gpt-4o', member: name });
          } else expect(lines.length).to.be.at.most(1);
        });
      }

  it('never makes one request cost more than 1,000 dollars', async () => {
    const text = { type: 'output_text', text: 'x', annotations: [] };
    const answer = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'o1-pro',
      output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] }],
      usage: { input_tokens: 10_000_000, output_tokens: 10_000_000, total_tokens: 20_000_000 },
    };
    const { send, booked, t } = await keyScene((_seen, response) => replyJson(response, 200, answer), {
      budgetUsd: 1e6,
      models: ['o1-pro'],
    });
    await (await send()).text();
    expect(await booked()).to.equal(1e9);
    expect(t.lines.find(({ msg }) => msg === 'usage is not believed')).to.include({ member: 'cost' });
  });

  it('is guessed where all counts are 0 beside a text', async () => {
    const { send, booked } = await keyScene((_seen, response) =>
      replyJson(response, 200, chatReply(TEXT, { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } })),
    );
    await (await send()).text();
    expect(await booked()).to.be.within(
      Math.floor(GUESSED.prompt + GUESSED.answer),
      Math.ceil(GUESSED.prompt + GUESSED.answer),
    );
  });
});
