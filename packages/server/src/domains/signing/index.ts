import type { Domain } from '../../engine/domain.ts';
import { names } from './names.ts';
import { signRawPayload } from './operations/sign-raw-payload.ts';
import { signRawPayloads } from './operations/sign-raw-payloads.ts';
import { signTransaction } from './operations/sign-transaction.ts';
import { tables } from './tables.ts';

export const signing: Domain = {
  name: 'signing',
  operations: [signRawPayload, signRawPayloads, signTransaction],
  tables,
  names,
};
