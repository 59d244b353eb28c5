import { activities } from './domains/activities/index.ts';
import { balances } from './domains/balances/index.ts';
import { deployments } from './domains/deployments/index.ts';
import { earn } from './domains/earn/index.ts';
import { features } from './domains/features/index.ts';
import { login } from './domains/login/index.ts';
import { messages } from './domains/messages/index.ts';
import { onRamp } from './domains/on-ramp/index.ts';
import { organizations } from './domains/organizations/index.ts';
import { policies } from './domains/policies/index.ts';
import { recoveryKits } from './domains/recovery-kits/index.ts';
import { search } from './domains/search/index.ts';
import { secrets } from './domains/secrets/index.ts';
import { sends } from './domains/sends/index.ts';
import { serviceStatus } from './domains/service-status/index.ts';
import { signUpProxy } from './domains/sign-up-proxy/index.ts';
import { signing } from './domains/signing/index.ts';
import { users } from './domains/users/index.ts';
import { wallets } from './domains/wallets/index.ts';
import { webhooks } from './domains/webhooks/index.ts';
import type { Domain } from './engine/domain.ts';
import { kernelTables } from './storage/kernel-tables.ts';
import type { DataModel } from './storage/stores.ts';

/** Every domain of the service: the one list to add a new one to. */
export const domains: readonly Domain[] = [
  activities,
  balances,
  deployments,
  earn,
  features,
  login,
  messages,
  onRamp,
  organizations,
  policies,
  recoveryKits,
  search,
  secrets,
  sends,
  serviceStatus,
  signUpProxy,
  signing,
  users,
  wallets,
  webhooks,
];

export const dataModel: DataModel = {
  tables: [...kernelTables, ...domains.flatMap(({ tables = [] }) => tables)],
  provisions: domains.flatMap(({ provides = [] }) => provides),
};
