import { type SyntheticEvent, useState } from 'react';
import { Route as RouteIcon } from 'lucide-react';
import { messageOf } from '../../api/api-error.ts';
import { usePolled } from '../../api/polling.ts';
import type { Explanation, ModelList } from '../../api/wire.ts';
import { isFields, rowsIn } from '../../lib/fields.ts';
import { readJson } from '../../lib/json.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { useAction } from '../../ui/dialog.tsx';
import { Checkbox, SelectField, TextArea, TextField } from '../../ui/form.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import { Columns, Panel } from '../../ui/panel.tsx';
import { Banner, Empty } from '../../ui/states.tsx';
import { ExplanationView } from './explanation-view.tsx';

const SURFACES = ['chat', 'completions', 'embeddings', 'images', 'rerank', 'moderations', 'audio.speech'] as const;

interface Question {
  readonly surface: string;
  readonly model: string;
  readonly prompt: string;
  readonly isStreaming: boolean;
  /** Request metadata, as JSON; rules of the strategy may look at it. */
  readonly metadata: string;
  /** What names the session, as a client says it in X-Gateway-Session. */
  readonly session: string;
}

/** The body that such a client would send, as far as routing looks at it. */
function requestOf({ surface, model, prompt, isStreaming }: Question): object {
  switch (surface) {
    case 'chat':
      return { model, messages: [{ role: 'user', content: prompt }], ...(isStreaming && { stream: true }) };
    case 'completions':
    case 'images':
      return { model, prompt };
    case 'rerank':
      return { model, query: prompt, documents: [prompt] };
    case 'audio.speech':
      return { model, input: prompt, voice: 'alloy' };
    default:
      return { model, input: prompt };
  }
}

/** Asks where one request would go, without sending it. */
export function ExplainView({ knowsSessions }: { readonly knowsSessions: boolean }) {
  const api = useApi();
  const models = usePolled<ModelList>({ key: ['models'], read: (signal) => api.json('/v1/models', { signal }) });
  const [question, setQuestion] = useState<Question>({
    surface: 'chat',
    model: '',
    prompt: 'Hello',
    isStreaming: false,
    metadata: '',
    session: '',
  });
  const [explanation, setExplanation] = useState<Explanation>();
  const [problem, setProblem] = useState<string>();
  const change = (changes: Partial<Question>): void => setQuestion({ ...question, ...changes });
  const { run, isBusy, error } = useAction(async () => {
    const metadata = question.metadata.trim() === '' ? undefined : readJson(question.metadata);
    setExplanation(
      await api.json('/admin/explain', {
        method: 'POST',
        body: {
          surface: question.surface,
          request: requestOf(question),
          ...(metadata === undefined ? {} : { metadata }),
          ...(question.session.trim() === '' ? {} : { session: question.session.trim() }),
        },
      }),
    );
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const metadataIsWrong = question.metadata.trim() !== '' && !isFields(readJson(question.metadata));
    setProblem(metadataIsWrong ? 'Metadata must be a JSON object, such as {"team": "search"}.' : undefined);
    if (!metadataIsWrong) run();
  };
  return (
    <Columns>
      <Panel title="Request" description="Nothing is sent to a provider, and nothing is counted.">
        <form className="stack" onSubmit={submit}>
          <SelectField
            label="Surface"
            value={question.surface}
            onChange={(event) => change({ surface: event.target.value })}
          >
            {SURFACES.map((surface) => (
              <option key={surface} value={surface}>
                {surface}
              </option>
            ))}
          </SelectField>
          <FilterField
            label="Model"
            placeholder="A model or an alias"
            value={question.model}
            suggestions={rowsIn(models.data?.data).map(({ id }) => id)}
            onChange={(model) => change({ model })}
          />
          <TextArea
            label="Prompt"
            rows={3}
            value={question.prompt}
            onChange={(event) => change({ prompt: event.target.value })}
          />
          {question.surface === 'chat' && (
            <Checkbox
              label="Streamed"
              checked={question.isStreaming}
              onChange={(event) => change({ isStreaming: event.target.checked })}
            />
          )}
          <TextArea
            label="Metadata"
            hint="Optional JSON, as a client sends it in X-Gateway-Metadata."
            error={problem}
            rows={2}
            spellCheck={false}
            value={question.metadata}
            onChange={(event) => change({ metadata: event.target.value })}
          />
          {knowsSessions && (
            <TextField
              label="Session"
              hint="Optional, as a client sends it in X-Gateway-Session."
              value={question.session}
              autoComplete="off"
              onChange={(event) => change({ session: event.target.value })}
            />
          )}
          <div>
            <Button type="submit" tone="primary" icon={RouteIcon} isBusy={isBusy}>
              Explain
            </Button>
          </div>
        </form>
      </Panel>
      <Panel title="Decision">
        <div className="stack" aria-live="polite">
          {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
          {explanation ? (
            <ExplanationView explanation={explanation} />
          ) : (
            <Empty icon={RouteIcon} title="No question yet">
              Describe a request, and see which targets it would try and why.
            </Empty>
          )}
        </div>
      </Panel>
    </Columns>
  );
}
