import type { NameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    secret: { readonly name: string };
  }
}

export const names: readonly NameSource[] = [
  tableSource('secret', 'secret', ['name'], (row) => ({
    name: (row['name'] as string | null) ?? `secret ${(row['id'] as string).slice(0, 8)}…`,
  })),
];
