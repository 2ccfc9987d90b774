import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import OpenAI, { NotFoundError, toFile } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { ConversationItemAdded, SessionCreatedEvent } from 'openai/resources/realtime/realtime';
import { forSuite, type GatewayProcess, startGateway, temporaryFolder } from '../kit/index.ts';
import { UPSTREAM_KEY } from './support/gateway.ts';
import { RESPONSE, vendorApi, type VendorApi } from './support/vendor-api.ts';

const CONFIG =
  'strategy: {mode: single}\ntargets: [{virtual_key: openai, models: [m]}]\nbatch_target: openai\nresponses_target: openai\n';
const BY_NAME = { headers: { 'X-Provider': 'openai' } };

describe('the openai client on routes that are passed through', () => {
  const setup = forSuite(async (): Promise<{ gateway: GatewayProcess; vendor: VendorApi; client: OpenAI }> => {
    const vendor = await vendorApi();
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), CONFIG);
    const gateway = await startGateway({
      cwd,
      variables: { OPENAI_API_KEY: UPSTREAM_KEY, OPENAI_BASE_URL: vendor.url },
    });
    return {
      gateway,
      vendor,
      client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 }),
    };
  });

  /** Each of the calls reached the vendor, in order, with the gateway's credential and never with the client's. */
  function expectSeen(...routes: readonly string[]): void {
    const {
      vendor: { seen },
      gateway,
    } = setup();
    expect(seen.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(routes);
    for (const { headers } of seen) expect(headers.authorization).to.equal(`Bearer ${UPSTREAM_KEY}`);
    expect(JSON.stringify(seen.map(({ headers }) => headers))).to.not.include(gateway.key);
  }

  beforeEach(() => {
    setup().vendor.seen.length = 0;
  });

  it('keeps files: made, listed, read and deleted, their bytes as they are', async () => {
    const { client, vendor } = setup();
    const file = await client.files.create({
      file: await toFile(Buffer.from('{"line": "é 港"}\n'), 'lines.jsonl'),
      purpose: 'batch',
    });
    expect(file).to.include({ id: 'file-9k2Q', filename: 'lines.jsonl' });
    expect(vendor.seen[0]?.body.toString()).to.include('{"line": "é 港"}\n').and.to.include('name="purpose"');
    expect((await Array.fromAsync(client.files.list())).map(({ id }) => id)).to.deep.equal([file.id]);
    expect(await client.files.retrieve(file.id)).to.include({ status: 'processed' });
    expect([...new Uint8Array(await (await client.files.content(file.id)).arrayBuffer())]).to.deep.equal([
      0, 255, 10, 13, 128, 34,
    ]);
    expect(await client.files.delete(file.id)).to.include({ deleted: true });
    expectSeen(
      'POST /files',
      'GET /files',
      'GET /files/file-9k2Q',
      'GET /files/file-9k2Q/content',
      'DELETE /files/file-9k2Q',
    );
  });

  it('runs batches', async () => {
    const { client } = setup();
    const batch = await client.batches.create({
      input_file_id: 'file-9k2Q',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    expect(
      [await client.batches.retrieve(batch.id), await client.batches.cancel(batch.id)].map(({ status }) => status),
    ).to.deep.equal(['validating', 'cancelling']);
    expect((await Array.fromAsync(client.batches.list({ limit: 2 }))).map(({ id }) => id)).to.deep.equal([batch.id]);
    expectSeen('POST /batches', 'GET /batches/batch_9k2Q', 'POST /batches/batch_9k2Q/cancel', 'GET /batches?limit=2');
  });

  it('tunes models, by the model where the body has one and by the provider else', async () => {
    const { client } = setup();
    const job = await client.fineTuning.jobs.create({ model: 'm', training_file: 'file-9k2Q' });
    expect(await client.fineTuning.jobs.retrieve(job.id, BY_NAME)).to.include({ status: 'queued' });
    expect(await client.fineTuning.jobs.cancel(job.id, BY_NAME)).to.include({ status: 'cancelled' });
    expect((await Array.fromAsync(client.fineTuning.jobs.list({}, BY_NAME))).map(({ id }) => id)).to.deep.equal([
      job.id,
    ]);
    expectSeen(
      'POST /fine_tuning/jobs',
      'GET /fine_tuning/jobs/ftjob-9k2Q',
      'POST /fine_tuning/jobs/ftjob-9k2Q/cancel',
      'GET /fine_tuning/jobs',
    );
  });

  it('searches vector stores', async () => {
    const { client } = setup();
    const store = await client.vectorStores.create({ name: 'charts' }, BY_NAME);
    expect(await client.vectorStores.retrieve(store.id, BY_NAME)).to.include({ status: 'completed' });
    expect(await Array.fromAsync(client.vectorStores.search(store.id, { query: 'six' }, BY_NAME))).to.deep.equal([]);
    expect(await client.vectorStores.delete(store.id, BY_NAME)).to.include({ deleted: true });
    expectSeen(
      'POST /vector_stores',
      'GET /vector_stores/vs_9k2Q',
      'POST /vector_stores/vs_9k2Q/search',
      'DELETE /vector_stores/vs_9k2Q',
    );
  });

  it('creates, streams, retrieves and cancels responses, and lists their input', async () => {
    const { client } = setup();
    const { data, response } = await client.responses.create({ model: 'm', input: 'when?' }).withResponse();
    expect([data.output_text, data.usage]).to.deep.equal(['At six.', RESPONSE.usage]);
    expect(response.headers.get('x-gateway-provider')).to.equal('openai');
    const events = await Array.fromAsync(await client.responses.create({ model: 'm', input: 'when?', stream: true }));
    expect(events.map(({ type, sequence_number: number }) => `${number} ${type}`)).to.deep.equal([
      '0 response.created',
      '1 response.in_progress',
      '2 response.output_text.delta',
      '3 response.output_text.delta',
      '4 response.completed',
    ]);
    expect(await client.responses.retrieve(data.id)).to.include({ status: 'completed' });
    expect(await client.responses.cancel(data.id)).to.include({ status: 'cancelled' });
    expect((await Array.fromAsync(client.responses.inputItems.list(data.id))).map(({ type }) => type)).to.deep.equal([
      'message',
    ]);
    expectSeen(
      'POST /responses',
      'POST /responses',
      'GET /responses/resp_9k2Q',
      'POST /responses/resp_9k2Q/cancel',
      'GET /responses/resp_9k2Q/input_items',
    );
  });

  it('speaks in real time', async () => {
    const { client, gateway } = setup();
    const options = { createConnection: () => connect(Number(new URL(gateway.url).port), '127.0.0.1') }; // the client insists on TLS
    const realtime = new OpenAIRealtimeWS({ model: 'm', options }, client);
    const created = await new Promise<SessionCreatedEvent>((resolve, reject) => {
      realtime.on('session.created', resolve).on('error', reject);
    });
    expect(created.session).to.include({ model: 'm' });
    const added = new Promise<ConversationItemAdded>((resolve) => {
      realtime.on('conversation.item.added', resolve);
    });
    realtime.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'é 港' }] },
    });
    expect(JSON.stringify((await added).item)).to.include('é 港');
    const closed = once(realtime.socket, 'close');
    realtime.close({ code: 4001, reason: 'enough' });
    expect((await closed)[0]).to.equal(4001);
    expectSeen('WS /realtime?model=m');
  });

  it('reads what the vendor refuses, and what the gateway refuses, as its own typed errors', async () => {
    const { client } = setup();
    const failure = (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => 'answered',
        (error: unknown) => error,
      );
    const theirs = await failure(client.files.retrieve('file-unknown'));
    expect(theirs).to.be.instanceOf(NotFoundError).and.to.include({ status: 404, type: 'invalid_request_error' });
    const ours = await failure(client.vectorStores.retrieve('vs_1', { headers: { 'X-Provider': 'unknown' } }));
    expect(ours).to.be.instanceOf(NotFoundError).and.to.include({ status: 404, code: 'provider_not_found' });
    expectSeen('GET /files/file-unknown');
  });
});
