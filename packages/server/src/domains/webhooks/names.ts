import type { NameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    webhookEndpoint: { readonly name: string; readonly url: string };
  }
}

export const names: readonly NameSource[] = [
  tableSource('webhookEndpoint', 'webhook_endpoint', ['name', 'url'], (row) => ({
    name: row['name'] as string,
    url: row['url'] as string,
  })),
];
