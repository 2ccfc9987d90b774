import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import { type EmbeddingsReply, type EmbeddingsRequest, type Fields, quoted } from '../../../../host/contract/index.ts';
import { given, Lost, Members } from './members.ts';
import { openPart } from './parts.ts';

const SINGLE = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality']);
const BATCH = new Set(['requests']);
const CONTENT = new Set(['role', 'parts']);
const MAX_REQUESTS = 100;

/** `input_type` by `taskType`. See docs/reference/ingress.md#gemini-vectors. */
const TASKS: ReadonlyMap<string, string> = new Map([
  ['RETRIEVAL_QUERY', 'search_query'],
  ['RETRIEVAL_DOCUMENT', 'search_document'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
]);

/** A request for vectors in the common format. */
export interface ReadEmbed {
  readonly request: EmbeddingsRequest;
  readonly lost: readonly string[];
}

/** `embedContent`: one text, one vector. */
export function readEmbed(body: unknown, model: string): ReadEmbed {
  const lost = new Lost();
  const { text, options } = readItem(body, '', model, lost);
  return { request: { model, input: text, ...options }, lost: lost.inOrderOf(new Members(body, SINGLE, '').fields) };
}

/** `batchEmbedContents`: what else is said must be the same for all texts, because the common format says it once. */
export function readBatch(body: unknown, model: string): ReadEmbed {
  const lost = new Lost();
  const batch = new Members(body, BATCH, '');
  const requests = batch.list('requests');
  if (!requests || requests.length === 0)
    throw invalidRequest('requests is required and must hold at least one request');
  if (requests.length > MAX_REQUESTS)
    throw invalidRequest(`requests holds ${requests.length} requests, the limit is ${MAX_REQUESTS}`);
  lost.addUnknown(batch.fields, BATCH, '');
  const items = requests.map((request, index) => readItem(request, `requests[${index}]`, model, lost));
  const [first] = items;
  const other = items.findIndex(
    ({ options }) =>
      options['input_type'] !== first?.options['input_type'] || options['dimensions'] !== first?.options['dimensions'],
  );
  if (other >= 0)
    throw invalidRequest(
      `requests[${other}] differs from requests[0] in taskType or outputDimensionality; both must be the same for all`,
    );
  return {
    request: { model, input: items.map(({ text }) => text), ...first?.options },
    lost: lost.inOrderOf(batch.fields),
  };
}

interface Item {
  readonly text: string;
  readonly options: Fields;
}

function readItem(value: unknown, at: string, model: string, lost: Lost): Item {
  const item = new Members(value, SINGLE, at);
  const named = item.text('model')?.replace(/^models\//, '');
  if (at !== '' && named !== undefined && named !== '' && named !== model)
    throw invalidRequest(`${item.path('model')} ${quoted(named)} is not the model of the path`);
  const content = item.object('content');
  if (!content) throw invalidRequest(`${item.path('content')} is required`);
  lost.addGiven(item.fields, ['title'], at);
  lost.addUnknown(item.fields, SINGLE, at);
  const task = item.text('taskType') ?? '';
  const type = TASKS.get(task);
  if (type === undefined && task !== '' && task !== 'TASK_TYPE_UNSPECIFIED') lost.add(item.path('taskType'));
  return {
    text: textIn(content, item.path('content'), lost),
    options: given({ dimensions: item.integer('outputDimensionality', 1), input_type: type }),
  };
}

function textIn(value: Fields, at: string, lost: Lost): string {
  const content = new Members(value, CONTENT, at);
  const parts = content.list('parts') ?? [];
  const texts = parts.map((part, index) => {
    const { kind, members } = openPart(part, `${at}.parts[${index}]`, lost);
    if (kind !== 'text')
      throw invalidRequest(`${members.path(kind ?? 'thoughtSignature')} cannot be embedded, only text can`);
    return members.text('text') ?? '';
  });
  if (texts.length === 0) throw invalidRequest(`${content.path('parts')} must hold at least one part`);
  return texts.join('');
}

/** The answer to one text. */
export function writeEmbedding({ data }: EmbeddingsReply): Fields {
  return { embedding: { values: data[0]?.embedding ?? [] } };
}

/** The answer to several, in their order. */
export function writeEmbeddings({ data }: EmbeddingsReply): Fields {
  return { embeddings: data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => ({ values: embedding })) };
}
