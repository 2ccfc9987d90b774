export { type GoodAnswer, goodAnswer, type LabSurface } from './answers.ts';
export { FAULT_NAMES, FAULTS, type FaultName, type FaultOptions, type FaultScene, playOf } from './kinds.ts';
export {
  bytesOf,
  chunk,
  chunked,
  close,
  cutAfter,
  hang,
  head,
  type HeaderList,
  LAST_CHUNK,
  type Move,
  reset,
  sized,
  spaced,
  wait,
  write,
} from './moves.ts';
export { between, pick, seeded, seedFor } from './random.ts';
export type { WireCall } from './requests.ts';
export {
  compileScript,
  type FaultCall,
  type FaultScript,
  type FaultStep,
  loadScript,
  type ScriptFile,
  SCRIPTS,
} from './script.ts';
export { faultUpstream, type FaultUpstream, type FaultUpstreamOptions, type Played } from './upstream.ts';
