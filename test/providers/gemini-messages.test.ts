import { expect } from 'chai';
import type { ChatMessage, ChatRequest } from '../../host/contract/index.ts';
import gemini from '../../providers/gemini/index.ts';
import { refusedBy, sentBy } from '../kit/index.ts';

const ask = (messages: readonly object[], model = 'gemini-2.5-flash'): ChatRequest => ({
  model,
  messages: messages as ChatMessage[],
});
const bodyOf = async (...messages: object[]): Promise<any> => (await sentBy(gemini, 'chat', ask(messages))).body;
const partsOf = async (...content: object[]): Promise<any[]> =>
  (await bodyOf({ role: 'user', content })).contents[0].parts;
const calls = (...ids: string[]): object => ({
  role: 'assistant',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: `name_of_${id}`, arguments: '{"a":1}' } })),
});
const USER = { role: 'user', content: 'hi' };

describe('gemini, system texts', () => {
  const SAID = [{ role: 'user', parts: [{ text: 'hi' }] }];

  it('are one instruction, wherever they stand and however they are called', async () => {
    for (const messages of [
      [{ role: 'system', content: 'a' }, USER],
      [USER, { role: 'developer', content: 'a' }],
      [USER, { role: 'system', content: [{ type: 'text', text: 'a' }] }],
    ]) {
      expect(await bodyOf(...messages)).to.deep.equal({
        systemInstruction: { parts: [{ text: 'a' }] },
        contents: SAID,
      });
    }
    const several = await bodyOf(
      { role: 'system', content: 'a' },
      USER,
      { role: 'developer', content: 'b' },
      { role: 'system', content: '' },
    );
    expect(several.systemInstruction).to.deep.equal({ parts: [{ text: 'a\nb' }] });
  });

  it('alone become a turn of the user, since the vendor needs one, and empty ones nothing', async () => {
    expect(
      await bodyOf(
        { role: 'system', content: 'a' },
        { role: 'user', content: '' },
        { role: 'developer', content: 'b' },
      ),
    ).to.deep.equal({ contents: [{ role: 'user', parts: [{ text: 'a\nb' }] }] });
    expect(await bodyOf({ role: 'system', content: '' }, USER)).to.deep.equal({ contents: SAID });
  });

  it('hold text only', async () => {
    const { code, message } = await refusedBy(
      gemini,
      'chat',
      ask([
        USER,
        {
          role: 'system',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'x' } },
          ],
        },
      ]),
    );
    expect([code, message.slice(0, 23)]).to.deep.equal(['invalid_request', 'messages[1].content[1]:']);
  });
});

describe('gemini, turns', () => {
  it('alternate: those of one role become one, and those that say nothing are left out', async () => {
    const nothing = [
      { role: 'assistant', content: '' },
      { role: 'assistant', content: [{ type: 'text', text: '' }] },
      { role: 'user', content: null },
      { role: 'user', content: [] },
      { role: 'assistant' },
    ];
    const { contents } = await bodyOf(
      ...nothing,
      USER,
      ...nothing,
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'there' },
        ],
      },
      ...nothing,
      { role: 'critic', content: 'no' },
      ...nothing,
    );
    expect(contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'hi' }, { text: 'there' }] },
      { role: 'critic', parts: [{ text: 'no' }] },
    ]);
  });

  it('of which none says anything are refused', async () => {
    for (const messages of [
      [{ role: 'user', content: '' }],
      [
        { role: 'system', content: '' },
        { role: 'assistant', content: null },
      ],
      [],
    ]) {
      expect((await refusedBy(gemini, 'chat', ask(messages))).code).to.equal('invalid_request');
    }
  });

  it('begin with the user where the first would be a call', async () => {
    const { contents } = await bodyOf({ role: 'system', content: 's' }, calls('x'), {
      role: 'tool',
      tool_call_id: 'x',
      content: 'ok',
    });
    expect(contents.map(({ role }: { role: string }) => role)).to.deep.equal(['user', 'model', 'user']);
    expect(contents[0].parts).to.deep.equal([{ text: '…' }]);
    expect((await bodyOf({ role: 'assistant', content: 'hello' }, USER)).contents[0]).to.deep.equal({
      role: 'model',
      parts: [{ text: 'hello' }],
    });
  });

  it('carry what was refused in earlier ones as text', async () => {
    const { contents } = await bodyOf(
      USER,
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not.' }] },
      USER,
      { role: 'assistant', content: null, refusal: 'No.' },
    );
    expect(
      contents.filter(({ role }: { role: string }) => role === 'model').map(({ parts }: { parts: unknown }) => parts),
    ).to.deep.equal([[{ text: 'I will not.' }], [{ text: 'No.' }]]);
  });

  it("hold the results of a turn's calls together, whatever stands between them", async () => {
    const results = ['x', 'y'].map((id) => ({ role: 'tool', tool_call_id: id, content: id }));
    const { contents } = await bodyOf(
      USER,
      calls('x', 'y'),
      results[0] as object,
      { role: 'system', content: 's' },
      { role: 'assistant', content: '' },
      results[1] as object,
      USER,
    );
    expect(contents).to.have.length(3);
    expect(contents[2].parts.map((part: object) => Object.keys(part)[0])).to.deep.equal([
      'functionResponse',
      'functionResponse',
      'text',
    ]);
  });

  it('keep the ids of other vendors, on both sides', async () => {
    for (const id of ['toolu_01A', 'call|fc_1', 'functions.f:0', 'id with space', 'x'.repeat(200)]) {
      const { contents } = await bodyOf(USER, calls(id), { role: 'tool', tool_call_id: id, content: 'ok' });
      expect([contents[1].parts[0].functionCall.id, contents[2].parts[0].functionResponse.id]).to.deep.equal([id, id]);
    }
  });

  it('carry calls and their results by name, results of parallel calls in one turn', async () => {
    const { contents } = await bodyOf(
      USER,
      calls('x', 'y'),
      { role: 'tool', tool_call_id: 'y', content: '{"ok":true}' },
      { role: 'tool', tool_call_id: 'x', content: 'sunny' },
      USER,
    );
    expect(contents.slice(1)).to.deep.equal([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'x', name: 'name_of_x', args: { a: 1 } } },
          { functionCall: { id: 'y', name: 'name_of_y', args: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'y', name: 'name_of_y', response: { ok: true } } },
          { functionResponse: { id: 'x', name: 'name_of_x', response: { result: 'sunny' } } },
          { text: 'hi' },
        ],
      },
    ]);
  });

  it('wrap results that are not an object, and repair arguments that are none', async () => {
    const result = async (content: unknown): Promise<unknown> =>
      (await bodyOf(USER, calls('x'), { role: 'tool', tool_call_id: 'x', content })).contents[2].parts[0]
        .functionResponse.response;
    expect(await result('[1,2]')).to.deep.equal({ result: [1, 2] });
    expect(await result('7')).to.deep.equal({ result: 7 });
    expect(await result('null')).to.deep.equal({ result: null });
    expect(await result('')).to.deep.equal({ result: '' });
    expect(await result('{broken')).to.deep.equal({ result: '{broken' });
    expect(
      await result([
        { type: 'text', text: '{"a":' },
        { type: 'text', text: '1}' },
      ]),
    ).to.deep.equal({ a: 1 });
    for (const text of ['', '{broken', '[1]', undefined]) {
      const { contents } = await bodyOf(USER, {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: text } }],
      });
      expect(contents[1].parts, text).to.deep.equal([{ functionCall: { id: 'x', name: 'f', args: {} } }]);
    }
  });

  it('name a result after the nearest call of its id, and one without a call by what is known', async () => {
    const again = {
      role: 'assistant',
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'second', arguments: '' } }],
    };
    const nameOf = async (...messages: object[]): Promise<unknown> =>
      (await bodyOf(...messages)).contents.at(-1).parts.at(-1).functionResponse.name;
    expect(
      await nameOf(USER, calls('x'), { role: 'tool', tool_call_id: 'x', content: '' }, again, {
        role: 'tool',
        tool_call_id: 'x',
        content: '',
      }),
    ).to.equal('second');
    expect(
      await nameOf(USER, { role: 'tool', tool_call_id: 'x', content: '' }, calls('x'), {
        role: 'tool',
        tool_call_id: 'z',
        content: '',
      }),
    ).to.equal('');
    expect(await nameOf(USER, { role: 'tool', tool_call_id: 'z', name: 'given', content: '' })).to.equal('given');
    const same = {
      role: 'assistant',
      tool_calls: ['first', 'second'].map((name) => ({ id: 'x', type: 'function', function: { name, arguments: '' } })),
    };
    const { contents } = await bodyOf(
      USER,
      same,
      ...[1, 2].map(() => ({ role: 'tool', tool_call_id: 'x', content: '' })),
    );
    expect(contents[2].parts.map(({ functionResponse: { name } }: any) => name)).to.deep.equal(['first', 'second']);
  });

  it('say that a call failed where the client says so', async () => {
    const { contents } = await bodyOf(USER, calls('x'), {
      role: 'tool',
      tool_call_id: 'x',
      content: 'bad',
      is_error: true,
    });
    expect(contents[2].parts).to.deep.equal([
      { functionResponse: { id: 'x', name: 'name_of_x', response: { error: 'bad' } } },
    ]);
  });

  it('put media of a result beside it', async () => {
    const { contents } = await bodyOf(USER, calls('x'), {
      role: 'tool',
      tool_call_id: 'x',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    });
    expect(contents[2].parts).to.deep.equal([
      { functionResponse: { id: 'x', name: 'name_of_x', response: { result: 'see' } } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ]);
  });
});

describe('gemini, parts', () => {
  const image = (url: string): object => ({ type: 'image_url', image_url: { url } });
  const file = (members: object): object => ({ type: 'file', file: members });

  it('are text, images as data or by address, audio and files', async () => {
    expect(
      await partsOf(
        { type: 'text', text: 'a' },
        { type: 'text', text: '' },
        image('https://i.example/a.png'),
        image('DATA:image/png;charset=x;base64,AA+/'),
      ),
    ).to.deep.equal([
      { text: 'a' },
      { fileData: { mimeType: 'image/png', fileUri: 'https://i.example/a.png' } },
      { inlineData: { mimeType: 'image/png', data: 'AA+/' } },
    ]);
    expect(
      await partsOf(
        { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
        { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
      ),
    ).to.deep.equal([
      { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
    ]);
    expect(
      await partsOf(
        file({ file_data: 'data:application/pdf;base64,JVBE' }),
        file({ file_data: 'JVBE', filename: 'Report.PDF' }),
        file({ file_id: 'https://generativelanguage.googleapis.com/v1beta/files/x' }),
      ),
    ).to.deep.equal([
      { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
      { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } },
    ]);
  });

  it('say the type beside an address, as far as it is known', async () => {
    const typeOf = async (part: object): Promise<unknown> => (await partsOf(part))[0].fileData.mimeType;
    const images: readonly [string, string][] = [
      ['https://i.example/a.PNG?size=2#x', 'image/png'],
      ['https://i.example/b.webp', 'image/webp'],
      ['gs://bucket/c.heic', 'image/heic'],
      ['https://i.example/picture', 'image/jpeg'],
      ['https://i.example/v1.2/picture?f=a.png', 'image/jpeg'],
    ];
    for (const [url, type] of images) expect(await typeOf(image(url)), url).to.equal(type);
    expect(
      await typeOf({ type: 'image_url', image_url: { url: 'https://i.example/x', format: 'image/gif' } }),
    ).to.equal('image/gif');
    const files: readonly [object, string | undefined][] = [
      [{ file_data: 'https://f.example/report.pdf' }, 'application/pdf'],
      [{ file_data: 'https://f.example/1', format: 'application/pdf' }, 'application/pdf'],
      [{ file_id: 'gs://bucket/report.pdf' }, 'application/pdf'],
      [{ file_id: 'https://f.example/1', filename: 'song.MP3' }, 'audio/mp3'],
      [{ file_id: 'https://f.example/1', format: 'video/mp4' }, 'video/mp4'],
      [{ file_id: 'https://generativelanguage.googleapis.com/v1beta/files/x' }, undefined],
      [{ file_id: 'https://www.youtube.com/watch?v=9hE5-98ZeCg' }, undefined],
    ];
    for (const [members, type] of files) expect(await typeOf(file(members)), JSON.stringify(members)).to.equal(type);
  });

  it('re-encode data addresses that are not base64', async () => {
    const dataOf = async (url: string): Promise<string> =>
      Buffer.from((await partsOf(image(url)))[0].inlineData.data, 'base64').toString('latin1');
    expect(await dataOf('data:image/svg+xml,%3Csvg%3E a+b')).to.equal('<svg> a+b');
    expect(await dataOf('data:image/x,%FF%00')).to.equal('\u00FF\u0000');
    expect(await dataOf('data:image/x,%zz%41')).to.equal('%zz%41');
  });

  it('are refused by their place when the vendor cannot take them', async () => {
    const refused = [
      image(''),
      image('data:;base64,AA'),
      image('data:image/png'),
      { type: 'image_url', image_url: null },
      { type: 'input_audio' },
      { type: 'input_audio', input_audio: { data: 'x', format: 'midi' } },
      { type: 'input_audio', input_audio: { data: '', format: 'wav' } },
      file({}),
      file({ file_id: 'file-abc' }),
      file({ file_data: 'AAAA' }),
      file({ file_data: 'AAAA', filename: 'a.exe' }),
      file({ file_data: 'data:application/zip;base64,AA' }),
      { type: 'video_url' },
    ];
    for (const part of refused) {
      const { code, message } = await refusedBy(
        gemini,
        'chat',
        ask([USER, { role: 'user', content: [{ type: 'text', text: 'a' }, part] }]),
      );
      expect(code, JSON.stringify(part)).to.equal('invalid_request');
      expect(message, JSON.stringify(part)).to.include('messages[1].content[1]');
    }
  });
});
