import { TreeTrust } from '../../core/rules.ts';
import type { Domain } from '../../engine/domain.ts';
import { provide } from '../../storage/stores.ts';
import { disableAuthProxy } from './operations/disable-auth-proxy.ts';
import { enableAuthProxy } from './operations/enable-auth-proxy.ts';
import { getAuthProxyConfig } from './operations/get-auth-proxy-config.ts';
import { updateAuthProxyConfig } from './operations/update-auth-proxy-config.ts';
import { SignUpProxyReader } from './store.ts';
import { tables } from './tables.ts';

export const signUpProxy: Domain = {
  name: 'sign-up-proxy',
  operations: [disableAuthProxy, enableAuthProxy, getAuthProxyConfig, updateAuthProxyConfig],
  tables,
  provides: [provide(TreeTrust, SignUpProxyReader)],
};
