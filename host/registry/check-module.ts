import type { ObjectSchema } from 'joi';
import { hasExternals } from '../config/settings-schema.ts';
import { CONTRACT, CONTRACT_VERSION } from '../contract/index.ts';
import { translatorProblem } from './canned-requests.ts';
import { connectionFindings } from './check-connection.ts';
import { paramFindings } from './check-params.ts';
import { isInRange } from './contract-range.ts';
import { SHAPES, TRANSLATORS } from './module-shapes.ts';
import { traitFindings } from './check-traits.ts';
import { helperOf, type ModuleCheck, type ModuleKind, SHIPPED } from './registry.ts';

/** One rule about modules; tapped on `checkModule` under its id. */
export interface ModuleRule {
  readonly id: string;
  check(check: ModuleCheck): void;
}

const KIND_FOLDERS: Readonly<Record<ModuleKind, string>> = {
  provider: 'providers',
  strategy: 'strategies',
  plugin: 'plugins',
};

/** A module of another kind, or for another contract, has another shape: only its kind or contract is reported, its shape is not compared. */
const isComparable = ({ value, kind }: ModuleCheck): boolean =>
  value['kind'] === kind && speaksContract(value['contract']);

/** Whether a surface's translator is one: what it does is then another question. */
const hasShape = (surface: string, translator: unknown): boolean =>
  TRANSLATORS({ [surface]: translator }, '').length === 0;

/** What is wrong with the translator beside that of chats. */
function viaProblem(surface: string, translator: unknown): string | undefined {
  const { viaResponses } = translator as { readonly viaResponses?: unknown };
  return viaResponses === undefined ? undefined : translatorProblem(surface, viaResponses);
}

/** Its functions are asked only once it has the shape it must have. What the shipped ones say is known without a start: a test asks them all. */
const isAskable = (check: ModuleCheck): boolean =>
  check.origin !== SHIPPED && isComparable(check) && SHAPES[check.kind](check.value, '').length === 0;

/** The stamp of a helper, or what the author states: a number, or a range of versions. */
function speaksContract(stated: unknown): boolean {
  return typeof stated === 'string' ? isInRange(CONTRACT_VERSION, stated) === true : stated === CONTRACT;
}

export const MODULE_RULES: readonly ModuleRule[] = [
  {
    id: 'MV02',
    check: ({ value, kind, report }) => {
      if (value['kind'] === kind) return;
      report(
        'MV02',
        `it exports kind "${String(value['kind'])}" where a ${kind} belongs`,
        `use ${helperOf(kind)}, or move it out of ${KIND_FOLDERS[kind]}/`,
      );
    },
  },
  {
    id: 'MV03',
    check: ({ value, report }) => {
      const stated = value['contract'];
      if (speaksContract(stated)) return;
      const spoken = typeof stated === 'string' ? CONTRACT_VERSION : CONTRACT;
      report(
        'MV03',
        `it was made for contract ${String(stated)}, this host speaks ${spoken}`,
        'take the version of it that is made for this gateway; a define* helper states the contract by itself',
      );
    },
  },
  {
    id: 'MV04',
    check: (check) => {
      if (!isComparable(check)) return;
      for (const { message, fix } of SHAPES[check.kind](check.value, '')) check.report('MV04', message, fix);
      if (!isAskable(check)) return;
      for (const field of ['settings', 'targetSettings']) {
        const schema = check.value[field] as ObjectSchema | undefined;
        if (schema && hasExternals(schema))
          check.report(
            'MV04',
            `${field} has a rule with external(), which must be waited for`,
            'use custom(), and look at what is outside in create',
          );
      }
    },
  },
  {
    id: 'MV05',
    check: ({ value, expectedName, report }) => {
      if (expectedName === undefined || value['name'] === expectedName) return;
      report(
        'MV05',
        `it is named "${String(value['name'])}" but stands at "${expectedName}"`,
        'give the file or folder and the module one name',
      );
    },
  },
  {
    id: 'MV06',
    check: ({ value, kind, origin, report }) => {
      const { translators: all } = value;
      if (origin === SHIPPED || kind !== 'provider' || typeof all !== 'object' || all === null) return;
      for (const [surface, translators] of Object.entries(all)) {
        if (!hasShape(surface, translators)) continue; // MV04 says what it lacks
        const problem = translatorProblem(surface, translators) ?? viaProblem(surface, translators);
        if (problem !== undefined)
          report(
            'MV06',
            `its ${surface} translator fails on a minimal request: ${problem}`,
            'return { path, body } for every valid request',
          );
      }
    },
  },
  {
    id: 'MV07',
    check: (check) => {
      if (check.kind !== 'provider' || !isAskable(check)) return;
      for (const { message, fix } of connectionFindings(check.value as never)) check.report('MV07', message, fix);
    },
  },
  {
    id: 'MV08',
    check: (check) => {
      if (check.kind !== 'provider' || !isAskable(check)) return;
      for (const { message, fix } of [...paramFindings(check.value as never), ...traitFindings(check.value as never)])
        check.report('MV08', message, fix);
    },
  },
];
