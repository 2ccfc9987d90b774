import type { KeyboardEvent, SyntheticEvent } from 'react';
import { RotateCcw, Send, Square } from 'lucide-react';
import type { Capabilities, Model } from '../../../api/wire.ts';
import { useSearch } from '../../../lib/use-search.ts';
import { useUnsent } from '../../../lib/use-unsent.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/form.tsx';
import { Banner } from '../../../ui/states.tsx';
import { chosenModel, modelGroups } from '../models.ts';
import type { ChatSettings } from './chat-call.ts';
import { LaneView } from './lane-view.tsx';
import { SettingsPanel } from './settings-panel.tsx';
import { unsupportedParameters } from './unsupported.ts';
import { type Lane, useLane } from './use-lane.ts';

const DEFAULTS: ChatSettings = { isStreaming: true, temperature: 0.7, maxTokens: 1024, system: '' };

export interface ChatViewProps {
  readonly models: readonly Model[];
  readonly capabilities: Capabilities | undefined;
}

/** A conversation with one model, or with two side by side. */
export function ChatView({ models, capabilities }: ChatViewProps) {
  const [search] = useSearch();
  const [settings, setSettings] = useUnsent('chat settings', () => DEFAULTS);
  const [text, setText] = useUnsent<string>('prompt', () => '');
  const groups = modelGroups(models, 'chat');
  const other = search.get('with');
  const chosen = [chosenModel(groups, search.get('model')), ...(other ? [other] : [])];
  const lanes = [useLane(), useLane()].slice(0, chosen.length);
  const isRunning = lanes.some((lane) => lane.isRunning);
  const send = async (): Promise<void> => {
    const prompt = text.trim();
    if (prompt === '' || isRunning || chosen[0] === '') return;
    setText('');
    const arrived = await Promise.all(
      lanes.map((lane, at) => lane.send({ model: chosen[at] ?? '', text: prompt, settings })),
    );
    if (!arrived.includes(true)) setText((written) => written || prompt); // to try again without typing it again
  };
  return (
    <div className="chat">
      <SettingsPanel
        groups={groups}
        model={chosen[0] ?? ''}
        other={other}
        settings={settings}
        onChange={(changes) => setSettings({ ...settings, ...changes })}
      />
      <div className="chat-main">
        <Warnings models={models} chosen={chosen} capabilities={capabilities} />
        <div className="lanes" data-count={lanes.length}>
          {lanes.map((lane, at) => (
            <LaneView
              key={at === 0 ? 'first' : 'second'}
              name={at === 0 ? 'First model' : 'Second model'}
              model={chosen[at] ?? ''}
              lane={lane}
            />
          ))}
        </div>
        <Composer
          text={text}
          onText={setText}
          lanes={lanes}
          isRunning={isRunning}
          onSend={() => {
            void send();
          }}
        />
      </div>
    </div>
  );
}

function Warnings({
  models,
  chosen,
  capabilities,
}: {
  readonly models: readonly Model[];
  readonly chosen: readonly string[];
  readonly capabilities: Capabilities | undefined;
}) {
  return [...new Set(chosen)].map((id) => {
    const { provider, parameters } = unsupportedParameters(models, id, capabilities);
    return parameters.length === 0 ? null : (
      <Banner key={id} tone="warn">
        {provider} does not support {parameters.join(' and ')}: requests to {id} go without.
      </Banner>
    );
  });
}

interface ComposerProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly lanes: readonly Lane[];
  readonly isRunning: boolean;
  readonly onSend: () => void;
}

function Composer({ text, onText, lanes, isRunning, onSend }: ComposerProps) {
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    onSend();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
  };
  const isEmpty = lanes.every(({ turns, failure }) => turns.length === 0 && failure === undefined);
  return (
    <form className="composer" onSubmit={submit}>
      <Field label="Prompt" hidesLabel>
        {(control) => (
          <textarea
            {...control}
            className="input text-area"
            rows={3}
            placeholder="Write a prompt"
            value={text}
            onChange={(event) => onText(event.target.value)}
            onKeyDown={press}
          />
        )}
      </Field>
      <div className="composer-actions">
        <span className="composer-hint">Ctrl or ⌘ with Enter sends</span>
        <Button
          icon={RotateCcw}
          disabled={isEmpty}
          onClick={() => {
            for (const lane of lanes) lane.reset();
          }}
        >
          Reset
        </Button>
        {isRunning ? ( // two elements: one that turned into the other under the press would submit the form
          <Button
            key="stop"
            tone="danger"
            icon={Square}
            onClick={() => {
              for (const lane of lanes) lane.stop();
            }}
          >
            Stop
          </Button>
        ) : (
          <Button key="send" type="submit" tone="primary" icon={Send} disabled={text.trim() === ''}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}
