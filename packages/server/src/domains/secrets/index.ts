import type { Domain } from '../../engine/domain.ts';
import { names } from './names.ts';
import { deleteSecrets } from './operations/delete-secrets.ts';
import { exportSecrets } from './operations/export-secrets.ts';
import { importSecrets } from './operations/import-secrets.ts';
import { initImportSecrets } from './operations/init-import-secrets.ts';
import { listSecrets } from './operations/list-secrets.ts';
import { tables } from './tables.ts';

export const secrets: Domain = {
  name: 'secrets',
  operations: [deleteSecrets, exportSecrets, importSecrets, initImportSecrets, listSecrets],
  tables,
  names,
};
