import type { NameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    invitation: { readonly name: string };
  }
}

export const names: readonly NameSource[] = [
  tableSource('invitation', 'invitation', ['receiver_user_name'], (row) => ({
    name: row['receiver_user_name'] as string,
  })),
];
