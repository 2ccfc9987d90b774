import type { Move, Played } from '../kit/faults/index.ts';

/** One line for a request: its number, what was asked, the fault, and what happens on the wire. */
export function describePlayed({ place, call, answer, step, moves }: Played): string {
  const asked = answer
    ? `${answer.surface}${answer.isStream ? ' stream' : ''}`
    : `${call.method} ${call.path.slice(0, 80)}`;
  return `#${place + 1} ${asked}: ${answer ? step.fault : 'no such route'} (${describeMoves(moves)})`;
}

function describeMoves(moves: readonly Move[]): string {
  const bytes = moves.reduce((sum, move) => sum + (move.do === 'write' ? move.bytes.length : 0), 0);
  const waits = moves.flatMap((move) => (move.do === 'wait' ? [move.ms] : []));
  const end = moves.map((move) => move.do).find((what) => what === 'reset' || what === 'close' || what === 'hang');
  const parts = [
    statusOf(moves),
    `${bytes} bytes`,
    waits.length > 0 && `${waits.length} waits, ${waits.reduce((sum, ms) => sum + ms, 0)} ms in all`,
    end && { reset: 'then reset', close: 'then closed', hang: 'then silence' }[end],
  ];
  return parts.filter((part) => typeof part === 'string').join(', ');
}

function statusOf(moves: readonly Move[]): string | false {
  const text = Buffer.concat(moves.flatMap((move) => (move.do === 'write' ? [move.bytes] : []))).toString(
    'latin1',
    0,
    64,
  );
  return /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? false;
}
