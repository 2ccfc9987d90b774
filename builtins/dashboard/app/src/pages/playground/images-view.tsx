import { type SyntheticEvent, useState } from 'react';
import { ExternalLink, Image as ImageIcon } from 'lucide-react';
import { ApiError, messageOf } from '../../api/api-error.ts';
import type { Capabilities, Model } from '../../api/wire.ts';
import { isFields } from '../../lib/fields.ts';
import { readJson } from '../../lib/json.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { useAction } from '../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/form.tsx';
import { Columns, Panel } from '../../ui/panel.tsx';
import { Banner, Empty } from '../../ui/states.tsx';
import { type Attribution, attributionOf } from './attribution.ts';
import { AttributionView } from './attribution-view.tsx';
import { type MadeImage, imagesOf } from './images.ts';
import { ModelPicker } from './model-picker.tsx';
import { chosenModel, modelGroups } from './models.ts';

const OPTIONS = {
  size: ['', '256x256', '512x512', '1024x1024', '1024x1536', '1536x1024', '1024x1792', '1792x1024'],
  quality: ['', 'standard', 'hd', 'low', 'medium', 'high'],
  style: ['', 'vivid', 'natural'],
  response_format: ['', 'url', 'b64_json'],
} as const;
type Option = keyof typeof OPTIONS;
const LABELS: Readonly<Record<Option, string>> = {
  size: 'Size',
  quality: 'Quality',
  style: 'Style',
  response_format: 'Response format',
};
const NONE: Readonly<Record<Option, string>> = { size: '', quality: '', style: '', response_format: '' };

interface Result {
  readonly images: readonly MadeImage[];
  readonly attribution: Attribution;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Prompts to images. */
export function ImagesView({
  models,
  capabilities,
}: {
  readonly models: readonly Model[];
  readonly capabilities: Capabilities | undefined;
}) {
  const api = useApi();
  const [search, setSearch] = useSearch();
  const [prompt, setPrompt] = useState('');
  const [count, setCount] = useState('1');
  const [options, setOptions] = useState(NONE);
  const [result, setResult] = useState<Result>();
  const groups = modelGroups(models, 'image');
  const model = chosenModel(groups, search.get('image'));
  const owner = models.find(({ id }) => id === model)?.owned_by ?? '';
  const formats = capabilities?.image_response_formats?.[owner];
  const choices = { ...OPTIONS, response_format: formats ? ['', ...formats] : OPTIONS.response_format };
  const { run, isBusy, error } = useAction(async () => {
    const startedAt = Date.now();
    const chosen = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));
    const response = await api.open('/v1/images/generations', {
      method: 'POST',
      body: { model, prompt, n: Number(count), ...chosen },
      hasNoDeadline: true,
    });
    const reply = readJson(await response.text());
    const images = imagesOf(isFields(reply) ? reply['data'] : undefined);
    if (images.length === 0) throw new ApiError(200, 'The answer holds no images.');
    setResult({ images, attribution: attributionOf(response.headers), startedAt, durationMs: Date.now() - startedAt });
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (prompt.trim() !== '' && model !== '') run();
  };
  return (
    <Columns>
      <Panel title="Request">
        <form className="stack" onSubmit={submit}>
          <ModelPicker label="Model" groups={groups} value={model} onChange={(image) => setSearch({ image })} />
          <TextArea label="Prompt" rows={4} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
          <div className="options">
            <TextField
              label="Images"
              type="number"
              min={1}
              max={4}
              value={count}
              onChange={(event) =>
                setCount(String(Math.min(4, Math.max(1, Math.trunc(Number(event.target.value)) || 1))))
              }
            />
            {(Object.keys(LABELS) as Option[]).map((name) => (
              <SelectField
                key={name}
                label={LABELS[name]}
                value={options[name]}
                onChange={(event) => setOptions({ ...options, [name]: event.target.value })}
              >
                {choices[name].map((value) => (
                  <option key={value} value={value}>
                    {value || 'default'}
                  </option>
                ))}
              </SelectField>
            ))}
          </div>
          <div>
            <Button type="submit" tone="primary" icon={ImageIcon} isBusy={isBusy} disabled={prompt.trim() === ''}>
              Generate
            </Button>
          </div>
        </form>
      </Panel>
      <Panel title="Images">
        <div className="stack" aria-live="polite" aria-busy={isBusy}>
          {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
          {result ? (
            <Images result={result} />
          ) : (
            error === undefined && <Empty icon={ImageIcon} title="No images yet" />
          )}
        </div>
      </Panel>
    </Columns>
  );
}

function Images({ result: { images, ...facts } }: { readonly result: Result }) {
  return (
    <>
      <ul className="images">
        {images.map(({ source, link, revisedPrompt }, at) => (
          <li key={at} className="image">
            {source !== undefined && <img src={source} alt={revisedPrompt ?? `Generated image ${at + 1}`} />}
            {link !== undefined && (
              <a className="row" href={link} target="_blank" rel="noopener noreferrer">
                <ExternalLink size={15} aria-hidden="true" />
                Open image {at + 1}
              </a>
            )}
            {revisedPrompt !== undefined && <p className="muted break">Revised prompt: {revisedPrompt}</p>}
          </li>
        ))}
      </ul>
      <AttributionView {...facts} usage={undefined} />
    </>
  );
}
