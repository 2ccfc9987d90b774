import { expect } from 'chai';
import { chatReply, replyJson, stubUpstream } from '../kit/index.ts';
import { chat, CHAT, instance, makeKey, patiently, type Reply, send, startWorkers } from '../workers/gateway.ts';

/** Six within a minute end a gateway. */
const KILLS = 5;
const CLIENTS = 16;

describe('workers that are killed under load', () => {
  it('lose their own requests alone; what was reserved ends at nothing, and what is booked is what was answered', async () => {
    let invoice = 0;
    const stub = await stubUpstream((_request, response) => {
      response.on('finish', () => {
        invoice += 1;
      });
      replyJson(response, 200, {
        ...chatReply('hello'),
        usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
      });
    });
    const gateway = await startWorkers(
      {
        strategy: { mode: 'fallback' },
        targets: [{ virtual_key: 'one', models: ['m'], concurrency: { max_concurrency: 8 } }],
        providers: { one: instance(stub.url) },
      },
      { API_KEY_STORE_BACKEND: 'sqlite' },
    );
    const { key, id } = await makeKey(gateway.url, { budgets: [{ requests: 1_000_000, every: 'day' }] });
    const run = { isOver: false };
    let lost = 0;
    const answers: Reply[] = [];
    const client = async (): Promise<void> => {
      while (!run.isOver) {
        const reply = await send(`${gateway.url}${CHAT}`, { key, body: chat() }).catch(() => undefined);
        if (reply) answers.push(reply);
        else lost += 1;
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    const ready = (): any[] => gateway.lines.filter(({ msg }) => msg === 'a worker is ready');
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = ready().length;
      const { pid } = ready().at(-1);
      const answered = answers.length;
      await patiently(() => answers.length > answered + 200);
      process.kill(pid, 'SIGKILL');
      await patiently(() => ready().length > before);
    }
    run.isOver = true;
    await Promise.all(clients);
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(lost).to.be.at.most(KILLS * CLIENTS);
    await patiently(async () => {
      const { json } = await send(`${gateway.url}/admin/health`);
      return json.targets[0].in_flight === 0 && json.targets[0].waiting === 0;
    });
    const own = await send(`${gateway.url}/v1/key`, { key });
    const [budget] = own.json.budgets;
    expect(budget.reserved ?? 0).to.equal(0);
    expect(answers.length).to.be.at.most(invoice);
    expect(invoice - answers.length).to.be.at.most(lost);
    const spent = 1_000_000 - budget.remaining;
    expect(spent).to.be.within(answers.length, invoice);
    expect(id).to.be.a('string');
    expect(await gateway.stop()).to.equal(0);
  });
});
