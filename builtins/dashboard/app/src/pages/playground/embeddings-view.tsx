import { type SyntheticEvent, useState } from 'react';
import { Sigma } from 'lucide-react';
import { ApiError, messageOf } from '../../api/api-error.ts';
import type { Model } from '../../api/wire.ts';
import { isFields } from '../../lib/fields.ts';
import { integer } from '../../lib/format.ts';
import { readJson } from '../../lib/json.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { useAction } from '../../ui/dialog.tsx';
import { TextArea, TextField } from '../../ui/form.tsx';
import { Columns, Panel } from '../../ui/panel.tsx';
import { Banner, Empty } from '../../ui/states.tsx';
import { type Attribution, attributionOf, type Usage } from './attribution.ts';
import { AttributionView } from './attribution-view.tsx';
import { ModelPicker } from './model-picker.tsx';
import { chosenModel, modelGroups } from './models.ts';

interface Result {
  readonly vectors: readonly (readonly number[])[];
  readonly usage: Usage | undefined;
  readonly attribution: Attribution;
  readonly startedAt: number;
  readonly durationMs: number;
}

const FIRST_VALUES = 8;

function vectorsOf(reply: unknown): number[][] {
  const data = isFields(reply) && Array.isArray(reply['data']) ? (reply['data'] as readonly unknown[]) : [];
  const vectors = data.map((item) =>
    isFields(item) && Array.isArray(item['embedding'])
      ? (item['embedding'] as unknown[]).filter((value): value is number => typeof value === 'number')
      : [],
  );
  if (vectors.length === 0) throw new ApiError(200, 'The answer holds no embeddings.');
  return vectors;
}

/** Texts to vectors: one for each line. */
export function EmbeddingsView({ models }: { readonly models: readonly Model[] }) {
  const api = useApi();
  const [search, setSearch] = useSearch();
  const [text, setText] = useState('');
  const [dimensions, setDimensions] = useState('');
  const [result, setResult] = useState<Result>();
  const groups = modelGroups(models, 'embedding');
  const model = chosenModel(groups, search.get('embedding'));
  const { run, isBusy, error } = useAction(async () => {
    const startedAt = Date.now();
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const body = {
      model,
      input: lines.length === 1 ? lines[0] : lines,
      ...(dimensions === '' ? {} : { dimensions: Number(dimensions) }),
    };
    const response = await api.open('/v1/embeddings', { method: 'POST', body, hasNoDeadline: true });
    const reply = readJson(await response.text());
    const usage = isFields(reply) && isFields(reply['usage']) ? (reply['usage'] as Usage) : undefined;
    setResult({
      vectors: vectorsOf(reply),
      usage,
      attribution: attributionOf(response.headers),
      startedAt,
      durationMs: Date.now() - startedAt,
    });
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (text.trim() !== '' && model !== '') run();
  };
  return (
    <Columns>
      <Panel title="Request">
        <form className="stack" onSubmit={submit}>
          <ModelPicker label="Model" groups={groups} value={model} onChange={(embedding) => setSearch({ embedding })} />
          <TextArea
            label="Texts"
            hint="One for each line."
            rows={5}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <TextField
            label="Dimensions"
            hint="Optional; not every model can shorten its vectors."
            type="number"
            min={1}
            value={dimensions}
            onChange={(event) => setDimensions(event.target.value)}
          />
          <div>
            <Button type="submit" tone="primary" icon={Sigma} isBusy={isBusy} disabled={text.trim() === ''}>
              Embed
            </Button>
          </div>
        </form>
      </Panel>
      <Panel title="Vectors">
        <div className="stack" aria-live="polite" aria-busy={isBusy}>
          {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
          {result ? (
            <Vectors result={result} />
          ) : (
            error === undefined && <Empty icon={Sigma} title="Nothing embedded yet" />
          )}
        </div>
      </Panel>
    </Columns>
  );
}

function Vectors({ result: { vectors, ...facts } }: { readonly result: Result }) {
  return (
    <>
      <p>
        {integer(vectors.length)} {vectors.length === 1 ? 'vector' : 'vectors'} of {integer(vectors[0]?.length)}{' '}
        dimensions
      </p>
      <ol className="vectors">
        {vectors.map((vector, at) => (
          <li key={at} className="vector">
            {/* vectors have no name but their place */}
            <code className="break">
              [
              {vector
                .slice(0, FIRST_VALUES)
                .map((value) => value.toFixed(4))
                .join(', ')}
              {vector.length > FIRST_VALUES ? ', …' : ''}]
            </code>
            <span className="muted">
              L2 norm {Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)).toFixed(4)}
            </span>
          </li>
        ))}
      </ol>
      <AttributionView {...facts} />
    </>
  );
}
