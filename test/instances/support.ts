import { chatReply, replyJson, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

export const chat = (model: string, more: object = {}): object => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});

/** A vendor whose answers say which credential they were asked with. */
export const vendor = (): Promise<StubUpstream> =>
  stubUpstream((request, response) => {
    if (request.url.endsWith('/models')) replyJson(response, 200, { data: [{ id: 'live' }] });
    else replyJson(response, 200, chatReply(request.headers.authorization ?? 'none'));
  });

/** The credential that a chat with the model reached a vendor with. */
export const keyOf = async (t: TestHost, model: string, headers: Record<string, string> = {}): Promise<unknown> =>
  (await t.post('/v1/chat/completions', chat(model), headers)).json().choices?.[0].message.content;

export const statusOf = async (t: TestHost, model: string): Promise<number> =>
  (await t.post('/v1/chat/completions', chat(model))).status;

export const listed = async (t: TestHost): Promise<string[]> =>
  (await t.get('/v1/models')).json().data.map(({ id }: { id: string }) => id);

export const rules = ({ lines }: TestHost, rule: string): Record<string, any>[] =>
  lines.filter((line) => line['rule'] === rule);
