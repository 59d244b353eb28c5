import type { NameSource } from '../describe/names.ts';
import type { Provision } from '../storage/stores.ts';
import type { Table } from '../storage/table.ts';
import type { Operation } from './define.ts';

/**
 * What one domain adds to the service. Registry, schema, docs and the suites over every operation are put together from these.
 */
export interface Domain {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly tables?: readonly Table[];
  /** Its stores that authentication and decisions read. */
  readonly provides?: readonly Provision[];
  /** What it has names for, for sentences about requests. */
  readonly names?: readonly NameSource[];
}
