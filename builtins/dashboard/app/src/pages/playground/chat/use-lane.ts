import { useEffect, useRef, useState } from 'react';
import { isAbort, messageOf } from '../../../api/api-error.ts';
import { useApi } from '../../../services.ts';
import type { Attribution, Usage } from '../attribution.ts';
import { chat, type ChatSettings, type Message } from './chat-call.ts';

export interface Turn {
  readonly id: number;
  readonly model: string;
  readonly prompt: string;
  readonly answer: string;
  readonly state: 'running' | 'done' | 'stopped';
  readonly attribution: Attribution | undefined;
  readonly usage: Usage | undefined;
  /** Milliseconds of this machine's clock. */
  readonly startedAt: number;
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number | undefined;
}

export interface Prompt {
  readonly model: string;
  readonly text: string;
  readonly settings: ChatSettings;
}

/** One conversation with one model at a time. */
export interface Lane {
  readonly turns: readonly Turn[];
  /** Why the last prompt has no answer. */
  readonly failure: string | undefined;
  readonly isRunning: boolean;
  /** Resolves with whether the answer came whole. */
  readonly send: (prompt: Prompt) => Promise<boolean>;
  readonly stop: () => void;
  readonly reset: () => void;
}

/** What the model is reminded of: whole turns only. */
function historyOf(turns: readonly Turn[]): Message[] {
  return turns
    .filter(({ state }) => state === 'done')
    .flatMap(({ prompt, answer }): Message[] => [
      { role: 'user', content: prompt },
      { role: 'assistant', content: answer },
    ]);
}

export function useLane(): Lane {
  const api = useApi();
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [failure, setFailure] = useState<string>();
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const send = async ({ model, text, settings }: Prompt): Promise<boolean> => {
    const given = new AbortController();
    running.current = given;
    const startedAt = Date.now();
    const begun: Turn = {
      id: startedAt,
      model,
      prompt: text,
      answer: '',
      state: 'running',
      attribution: undefined,
      usage: undefined,
      startedAt,
      firstTokenMs: undefined,
      durationMs: undefined,
    };
    const change = (changes: Partial<Turn>): void =>
      setTurns((all) => all.map((turn) => (turn.id === begun.id ? { ...turn, ...changes } : turn)));
    let firstTokenMs: number | undefined;
    setTurns([...turns, begun]);
    setFailure(undefined);
    setRunning(true);
    try {
      const {
        text: answer,
        attribution,
        usage,
      } = await chat(api, {
        model,
        settings,
        signal: given.signal,
        messages: [...historyOf(turns), { role: 'user', content: text }],
        onProgress: (progress) => {
          if (settings.isStreaming && progress.text !== '') firstTokenMs ??= Date.now() - startedAt;
          change({ answer: progress.text, attribution: progress.attribution, usage: progress.usage, firstTokenMs });
        },
      });
      change({ answer, attribution, usage, state: 'done', durationMs: Date.now() - startedAt });
      return true;
    } catch (error) {
      if (given.signal.aborted || isAbort(error))
        setTurns((all) => all.flatMap((turn) => (turn.id === begun.id ? stopped(turn) : [turn])));
      else {
        setTurns((all) => all.filter(({ id }) => id !== begun.id)); // half an answer is not shown as one
        setFailure(messageOf(error));
      }
      return false;
    } finally {
      if (running.current === given) setRunning(false);
    }
  };

  const reset = (): void => {
    running.current?.abort();
    setTurns([]);
    setFailure(undefined);
  };
  return { turns, failure, isRunning, send, reset, stop: () => running.current?.abort() };
}

/** What the reader stopped stays to be read, if anything had come. */
function stopped(turn: Turn): Turn[] {
  return turn.answer === '' ? [] : [{ ...turn, state: 'stopped' }];
}
