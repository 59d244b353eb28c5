import type { Domain } from '../../engine/domain.ts';
import { names } from './names.ts';
import { createFiatOnRampCredential } from './operations/create-fiat-on-ramp-credential.ts';
import { deleteFiatOnRampCredential } from './operations/delete-fiat-on-ramp-credential.ts';
import { getOnrampTransactionStatus } from './operations/get-onramp-transaction-status.ts';
import { initFiatOnRamp } from './operations/init-fiat-on-ramp.ts';
import { listFiatOnRampCredentials } from './operations/list-fiat-on-ramp-credentials.ts';
import { updateFiatOnRampCredential } from './operations/update-fiat-on-ramp-credential.ts';
import { tables } from './tables.ts';

export const onRamp: Domain = {
  name: 'on-ramp',
  operations: [
    createFiatOnRampCredential,
    deleteFiatOnRampCredential,
    getOnrampTransactionStatus,
    initFiatOnRamp,
    listFiatOnRampCredentials,
    updateFiatOnRampCredential,
  ],
  tables,
  names,
};
