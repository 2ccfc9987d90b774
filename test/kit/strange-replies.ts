import type { TranslatedSurface } from '../../host/contract/index.ts';

/** Bodies no provider should send, and some do; what each surface reads, in the wrong type, among them. */
const STRANGE = [
  '',
  ' ',
  'null',
  '0',
  '""',
  '[]',
  '[null]',
  '{}',
  '{"error":"broken"}',
  '{"error":{"message":"broken"}}',
  '{"choices":[{"message":',
  '<html>busy</html>',
  '\u0000\u0001\u0002',
];

export function strangeBodies(surface: TranslatedSurface): readonly string[] {
  const member = {
    chat: 'choices',
    embeddings: 'data',
    images: 'data',
    'images.edits': 'data',
    rerank: 'results',
    moderations: 'results',
    'audio.transcriptions': 'text',
    'audio.translations': 'text',
    'audio.speech': 'audio_data',
  }[surface];
  const wrong = ['null', '7', '{}', '[]', '[null]', '[7]', '[[]]', '[{}]'].map((value) => `{"${member}":${value}}`);
  const native = {
    embeddings: ['{"embeddings":[]}', '{"embeddings":[null]}', '[[],[]]', '[["x"],["y"]]'],
    rerank: [
      '{"scores":[]}',
      '{"scores":"x"}',
      '{"scores":[1]}',
      '{"rankings":[]}',
      '{"rankings":[{"index":99,"logit":1}]}',
    ],
  };
  return [...STRANGE, ...wrong, ...(native[surface as keyof typeof native] ?? [])];
}

export type StrangeReply = readonly [status: number, body: string, stream: boolean];

/** Statuses that are not a success of the surface, and successes with an empty body. Bytes that are relayed may be any, but there must be some. */
export function strangeReplies(surface: TranslatedSurface, isRelayed: boolean): readonly StrangeReply[] {
  const isChat = surface === 'chat';
  const statuses = [...(isChat ? [201, 204, 206] : []), 301, 304, 418, 424, 503, 599].map((status): StrangeReply => [
    status,
    status === 204 || status === 304 ? '' : '{}',
    false,
  ]);
  const bodies = (isRelayed ? ['', '{"error":{"message":"broken"}}'] : strangeBodies(surface)).map(
    (body): StrangeReply => [200, body, false],
  );
  const streams = isChat
    ? ([
        [200, '', true],
        [200, '{"choices":[]}', true],
        [200, 'data: 7\n\ndata: [null]\n\n', true],
        [204, '', true],
        [301, '', true],
        [503, 'busy', true],
      ] as const)
    : [];
  return [...statuses, ...bodies, ...streams];
}
