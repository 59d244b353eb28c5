import type { NameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    sessionProfile: { readonly name: string };
    oauth2Credential: { readonly name: string };
  }
}

export const names: readonly NameSource[] = [
  tableSource('sessionProfile', 'session_profile', ['name'], (row) => ({ name: row['name'] as string })),
  tableSource('oauth2Credential', 'oauth2_credential', ['provider', 'client_id'], (row) => ({
    name: `${(row['provider'] as string).replace(/^OAUTH2_PROVIDER_/, '')} ${row['client_id'] as string}`,
  })),
];
