import type { NameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    recoveryKit: { readonly name: string };
  }
}

export const names: readonly NameSource[] = [
  tableSource('recoveryKit', 'recovery_kit', ['created_at_ms'], (row) => ({
    name: `the kit of ${new Date(Number(row['created_at_ms'])).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  })),
];
