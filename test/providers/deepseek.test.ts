import { expect } from 'chai';
import deepseek from '../../providers/deepseek/index.ts';
import { sentBy } from '../kit/index.ts';
import { CHAT, FORWARDED, itForwardsChat, itServes } from './support.ts';

describe('deepseek', () => {
  itServes(deepseek, 'https://api.deepseek.com/v1', ['chat'], FORWARDED);
  itForwardsChat(deepseek);

  it('sends the user as user_id, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const { body } = await sentBy(deepseek, 'chat', { ...CHAT, user: 'u' }, { stream });
      expect(body).to.include({ user_id: 'u' }).and.not.have.property('user');
    }
  });

  it('asks for a schema in words, beside the kind of JSON that it knows', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const format = async (response_format: unknown): Promise<unknown[]> => {
      const { body, bounded, ignored } = await sentBy(deepseek, 'chat', {
        ...CHAT,
        messages: [{ role: 'developer', content: 'd' }],
        response_format,
      } as never);
      return [
        body.response_format,
        body.messages.map(({ role, content }: any) => `${role}: ${content}`),
        bounded,
        ignored,
      ];
    };
    expect(await format({ type: 'json_schema', json_schema: { name: 'n', schema, strict: true } })).to.deep.equal([
      { type: 'json_object' },
      [`system: Answer with one JSON object that conforms to this JSON schema: ${JSON.stringify(schema)}`, 'system: d'],
      ['response_format'],
      [],
    ]);
    for (const json_schema of [undefined, null, {}, { schema: 7 }])
      expect(await format({ type: 'json_schema', json_schema })).to.deep.equal([
        { type: 'json_object' },
        ['system: Answer with one JSON object', 'system: d'],
        ['response_format'],
        [],
      ]);
    for (const plain of [{ type: 'json_object' }, { type: 'text' }])
      expect(await format(plain)).to.deep.equal([plain, ['system: d'], [], []]);
  });

  it('takes penalties for unsupported', () => {
    expect(deepseek.params).to.deep.equal({ presence_penalty: 'unsupported', frequency_penalty: 'unsupported' });
  });
});
