import type { NameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';
import { providerName } from './provider-name.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    onRampCredential: { readonly name: string };
  }
}

export const names: readonly NameSource[] = [
  tableSource('onRampCredential', 'on_ramp_credential', 'all', (row) => ({
    name: providerName(row['provider'] as string),
  })),
];
