import type { Fields } from '../fields.ts';
import type { Node, Rule } from './schema-node.ts';
import type { Resource } from './schema-references.ts';
import type { Draft } from './schema-shapes.ts';

/** What rules need of the schema that they stand in. */
export interface Place {
  readonly draft: Draft;
  readonly holder: Readonly<Fields>;
  /** The node of a schema that is compared with the same value. */
  readonly inPlace: (schema: unknown) => Node;
  /** The node of a schema that is compared with a part of the value. */
  readonly inside: (schema: unknown) => Node;
  readonly reference: (text: string) => Node;
  /** By the resources that a look has come through: the node of a dynamic reference. */
  readonly dynamic: (anchor: string, scope: readonly Resource[]) => Node | undefined;
  readonly isDynamic: (text: string) => boolean;
}

/** Makes a rule of a keyword and what it holds; `undefined` where it says nothing. */
export type Maker = (place: Place, held: never) => Rule | undefined;
