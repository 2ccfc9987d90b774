import {
  type ChatRequest,
  type Fields,
  type FormPart,
  GatewayError,
  isFields,
  type Surface,
  SURFACE_NAMES,
  SURFACES,
} from '../../../host/contract/index.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { tapEventual } from '../../../host/pipeline/eventual.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Owners } from '../../../host/stores/owners.ts';
import { foreignIds, isBound } from '../ownership.ts';
import { ReferenceCollector } from './reference-collector.ts';
import { UploadSearch } from './upload-search.ts';

/** With `files.bind_owner`, a chat or a form that names another credential's file is refused before any plugin runs, as if there were no such file. */
export default defineBuiltin({
  name: 'chat-files',
  apply: ({ hooks }) => {
    hooks.assemble.tapPromise('chat-files', async ({ hooks: pipeline, config }, host) => {
      if (!isBound('file', config)) return;
      const owners = host?.stores.owners;
      for (const surface of SURFACE_NAMES) {
        if (SURFACES[surface].isChat || FORMS.has(surface))
          tapEventual(
            pipeline.beforeRequest[surface],
            { name: 'chat-files', stage: ORDER.owners },
            (exchange) => owners && refusal(exchange, owners.value),
          );
      }
    });
  },
});

/** Surfaces whose bodies are forms that go on to a provider. */
const FORMS: ReadonlySet<Surface> = new Set(['audio.transcriptions', 'audio.translations', 'images.edits']);

function refusal(
  { surface, request, principal }: LiveExchange,
  owners: Owners,
): Promise<GatewayError | undefined> | undefined {
  const ids = SURFACES[surface].isChat ? filesOf(request as ChatRequest) : filesInForm(request['form']);
  if (ids.length === 0) return undefined;
  return foreignIds(owners, 'file', ids, principal?.id ?? '').then(({ size }) =>
    size > 0 ? new GatewayError('resource_not_found', 'the file does not exist') : undefined,
  );
}

/** Ids of files that the fields of a form may name, as in one that is passed through. */
function filesInForm(form: unknown): readonly string[] {
  const references = new ReferenceCollector();
  const search = new UploadSearch(references);
  for (const part of (form ?? []) as readonly FormPart[])
    if ('value' in part) search.push(Buffer.from(`\r\n\r\n${part.value}\r\n--`));
  if (references.isOver) throw invalidRequest('the form names too many files');
  return [...references.found];
}

/** Ids of the files that the parts of the messages name. */
function filesOf({ messages }: ChatRequest): readonly string[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? content.flatMap(fileOf) : []));
}

function fileOf({ file }: Readonly<Fields>): readonly string[] {
  const id = isFields(file) ? file['file_id'] : undefined;
  return typeof id === 'string' ? [id] : [];
}
