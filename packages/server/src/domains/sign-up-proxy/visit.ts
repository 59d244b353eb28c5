import type { Organization } from '../../core/model.ts';
import type { App } from '../../engine/app.ts';
import type { WireActivity } from '../../engine/render-activity.ts';
import type { OrganizationId } from '../../lib/ids.ts';

import type { SignUpProxyConfig } from './model.ts';

/** One call of the proxy after its configuration and origin were found good. */
export interface Visit {
  readonly app: App;
  readonly config: SignUpProxyConfig;
  /** The parent organization of the configuration. */
  readonly parent: Organization;
  readonly clientAddress: string | undefined;
  readonly nowMs: number;
  /** The finished activity, and what it resulted in with the secrets that only a direct answer shows. */
  readonly run: <Result>(activity: ProxyActivity) => Promise<{ activity: WireActivity; result: Result }>;
}

/** An activity that the proxy asks for with its own key. */
export interface ProxyActivity {
  readonly type: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Where, if not in the parent organization. */
  readonly organizationId?: OrganizationId;
  readonly generateAppProofs?: boolean | undefined;
}
