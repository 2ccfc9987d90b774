import { useState } from 'react';
import { Columns2, X } from 'lucide-react';
import { useSearch } from '../../../lib/use-search.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox, Field, TextArea, TextField } from '../../../ui/form.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { ModelPicker } from '../model-picker.tsx';
import { chosenModel, type ModelGroup } from '../models.ts';
import type { ChatSettings } from './chat-call.ts';

export interface SettingsPanelProps {
  readonly groups: readonly ModelGroup[];
  readonly model: string;
  /** The second model, when two are compared. */
  readonly other: string | null;
  readonly settings: ChatSettings;
  readonly onChange: (changes: Partial<ChatSettings>) => void;
}

export function SettingsPanel({ groups, model, other, settings, onChange }: SettingsPanelProps) {
  const [, setSearch] = useSearch();
  const { isStreaming, temperature, maxTokens, system } = settings;
  const [startsOpen] = useState(() => window.matchMedia('(width > 1080px)').matches); // on a narrow screen they would push the conversation away
  const second = groups.flatMap(({ ids }) => ids).find((id) => id !== model) ?? chosenModel(groups, null);
  return (
    <Panel title="Settings">
      <ModelPicker label="Model" groups={groups} value={model} onChange={(chosen) => setSearch({ model: chosen })} />
      {other === null ? (
        <Button size="small" icon={Columns2} onClick={() => setSearch({ with: second })}>
          Compare with another
        </Button>
      ) : (
        <>
          <ModelPicker
            label="Second model"
            groups={groups}
            value={other}
            onChange={(chosen) => setSearch({ with: chosen })}
          />
          <Button size="small" icon={X} onClick={() => setSearch({ with: undefined })}>
            Stop comparing
          </Button>
        </>
      )}
      <Checkbox
        label="Stream the answer"
        checked={isStreaming}
        onChange={(event) => onChange({ isStreaming: event.target.checked })}
      />
      <details className="advanced" open={startsOpen}>
        <summary>More settings</summary>
        <div className="stack">
          <Field label={`Temperature: ${temperature}`}>
            {(control) => (
              <input
                {...control}
                className="range"
                type="range"
                min={0}
                max={2}
                step={0.1}
                value={temperature}
                onChange={(event) => onChange({ temperature: Number(event.target.value) })}
              />
            )}
          </Field>
          <TextField
            label="Maximum tokens"
            type="number"
            min={1}
            step={1}
            value={maxTokens}
            onChange={(event) => onChange({ maxTokens: Math.max(1, Math.trunc(Number(event.target.value)) || 1) })}
          />
          <TextArea
            label="System prompt"
            rows={3}
            value={system}
            onChange={(event) => onChange({ system: event.target.value })}
          />
        </div>
      </details>
    </Panel>
  );
}
