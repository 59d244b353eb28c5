import type { Kysely } from 'kysely';
import { AcceptedBundleStore } from '../core/store/accepted-bundles.ts';
import { ActivityReader, ActivityStore } from '../core/store/activities.ts';
import { ClockReader, ClockStore } from '../core/store/clock.ts';
import { DeploymentReader, DeploymentStore } from '../core/store/deployment.ts';
import { OrganizationReader, OrganizationStore } from '../core/store/organizations.ts';
import { SealedReader, SealedStore } from '../core/store/sealed.ts';
import { SealedResultReader, SealedResultStore } from '../core/store/sealed-results.ts';
import { TreeReader, TreeStore } from '../core/store/tree.ts';
import { BalanceWatchReader, BalanceWatchStore } from '../domains/balances/store.ts';
import { TvcReader, TvcStore } from '../domains/deployments/store.ts';
import { EarnReader, EarnStore } from '../domains/earn/store.ts';
import { LoginReader, LoginStore } from '../domains/login/store/logins.ts';
import { SessionProfileReader, SessionProfileStore } from '../domains/login/store/session-profiles.ts';
import { MessageReader, MessageStore } from '../domains/messages/store.ts';
import { OnRampReader, OnRampStore } from '../domains/on-ramp/store.ts';
import { InvitationReader, InvitationStore } from '../domains/organizations/store.ts';
import { ContractInterfaceReader, ContractInterfaceStore } from '../domains/policies/store/contract-interfaces.ts';
import { NetworkReader, NetworkStore } from '../domains/policies/store/networks.ts';
import { PolicyReader, PolicyStore } from '../domains/policies/store/policies.ts';
import { VelocityReader, VelocityStore } from '../domains/policies/store/velocity.ts';
import { SendReader, SendStore } from '../domains/sends/store/sends.ts';
import { SponsorshipReader, SponsorshipStore } from '../domains/sends/store/sponsorship.ts';
import { AuthProxyReader, AuthProxyStore } from '../domains/sign-up-proxy/store.ts';
import { CredentialReader, CredentialStore } from '../domains/users/store/credentials.ts';
import { MemberReader } from '../domains/users/store/members.ts';
import { MfaReader, MfaStore } from '../domains/users/store/mfa.ts';
import { OauthReader, OauthStore } from '../domains/users/store/oauth.ts';
import { PrincipalReader } from '../domains/users/store/principals.ts';
import { TagReader, TagStore } from '../domains/users/store/tags.ts';
import { UserReader, UserStore } from '../domains/users/store/users.ts';
import { ImportReader, ImportStore } from '../domains/wallets/store/imports.ts';
import { PrivateKeyReader, PrivateKeyStore } from '../domains/wallets/store/private-keys.ts';
import { WalletReader, WalletStore } from '../domains/wallets/store/wallets.ts';
import { WebhookReader } from '../domains/webhooks/store/webhook-reader.ts';
import { WebhookStore } from '../domains/webhooks/store/webhooks.ts';
import { AuthorityVersions } from './authority.ts';
import type { DatabaseKind } from './dialect.ts';
import type { Schema } from './schema.ts';

/** What queries and decisions may use. */
export interface ReadStores {
  readonly deployment: DeploymentReader;
  readonly principals: PrincipalReader;
  readonly organizations: OrganizationReader;
  readonly tree: TreeReader;
  readonly users: UserReader;
  readonly credentials: CredentialReader;
  readonly tags: TagReader;
  readonly invitations: InvitationReader;
  readonly activities: ActivityReader;
  readonly wallets: WalletReader;
  readonly privateKeys: PrivateKeyReader;
  readonly imports: ImportReader;
  readonly contractInterfaces: ContractInterfaceReader;
  readonly members: MemberReader;
  readonly mfa: MfaReader;
  readonly networks: NetworkReader;
  readonly policies: PolicyReader;
  readonly sessionProfiles: SessionProfileReader;
  readonly velocity: VelocityReader;
  readonly logins: LoginReader;
  readonly oauth: OauthReader;
  readonly onRamp: OnRampReader;
  readonly authProxy: AuthProxyReader;
  readonly messages: MessageReader;
  readonly webhooks: WebhookReader;
  readonly tvc: TvcReader;
  readonly sends: SendReader;
  readonly balanceWatch: BalanceWatchReader;
  readonly earn: EarnReader;
  readonly sponsorship: SponsorshipReader;
  readonly sealed: SealedReader;
  readonly sealedResults: SealedResultReader;
  readonly clock: ClockReader;
}

/** What the transaction of an activity may use. */
export interface Stores extends ReadStores {
  readonly deployment: DeploymentStore;
  readonly organizations: OrganizationStore;
  readonly tree: TreeStore;
  readonly users: UserStore;
  readonly credentials: CredentialStore;
  readonly tags: TagStore;
  readonly invitations: InvitationStore;
  readonly activities: ActivityStore;
  readonly wallets: WalletStore;
  readonly privateKeys: PrivateKeyStore;
  readonly imports: ImportStore;
  readonly contractInterfaces: ContractInterfaceStore;
  readonly mfa: MfaStore;
  readonly networks: NetworkStore;
  readonly policies: PolicyStore;
  readonly sessionProfiles: SessionProfileStore;
  readonly velocity: VelocityStore;
  readonly logins: LoginStore;
  readonly oauth: OauthStore;
  readonly onRamp: OnRampStore;
  readonly authProxy: AuthProxyStore;
  readonly messages: MessageStore;
  readonly webhooks: WebhookStore;
  readonly tvc: TvcStore;
  readonly sends: SendStore;
  readonly balanceWatch: BalanceWatchStore;
  readonly earn: EarnStore;
  readonly sponsorship: SponsorshipStore;
  readonly sealed: SealedStore;
  readonly sealedResults: SealedResultStore;
  readonly clock: ClockStore;
  readonly acceptedBundles: AcceptedBundleStore;
  /** Runs `inner` so that its failure undoes only its own writes. */
  savepoint<T>(inner: () => Promise<T>): Promise<T>;
}

export function openReadStores(db: Kysely<Schema>, kind: DatabaseKind): ReadStores {
  return {
    deployment: new DeploymentReader(db),
    principals: new PrincipalReader(db),
    organizations: new OrganizationReader(db, kind),
    tree: new TreeReader(db),
    users: new UserReader(db),
    credentials: new CredentialReader(db),
    tags: new TagReader(db),
    invitations: new InvitationReader(db),
    activities: new ActivityReader(db, kind),
    wallets: new WalletReader(db),
    privateKeys: new PrivateKeyReader(db),
    imports: new ImportReader(db),
    contractInterfaces: new ContractInterfaceReader(db),
    members: new MemberReader(db),
    mfa: new MfaReader(db),
    networks: new NetworkReader(db),
    policies: new PolicyReader(db),
    sessionProfiles: new SessionProfileReader(db),
    velocity: new VelocityReader(db, kind),
    logins: new LoginReader(db, kind),
    oauth: new OauthReader(db),
    onRamp: new OnRampReader(db),
    authProxy: new AuthProxyReader(db),
    messages: new MessageReader(db, kind),
    webhooks: new WebhookReader(db, kind),
    tvc: new TvcReader(db),
    sends: new SendReader(db, kind),
    balanceWatch: new BalanceWatchReader(db, kind),
    earn: new EarnReader(db, kind),
    sponsorship: new SponsorshipReader(db, kind),
    sealed: new SealedReader(db),
    sealedResults: new SealedResultReader(db, kind),
    clock: new ClockReader(db, kind),
  };
}

/** Stores over one connection, for one transaction after the other; each of them calls `begin` first. */
export function openStores(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  savepoint: Stores['savepoint'],
): { readonly stores: Stores; readonly begin: () => void } {
  const authority = new AuthorityVersions(db, kind);
  const stores: Stores = {
    deployment: new DeploymentStore(db),
    principals: new PrincipalReader(db),
    organizations: new OrganizationStore(db, kind, authority),
    tree: new TreeStore(db),
    users: new UserStore(db, authority),
    credentials: new CredentialStore(db, authority),
    tags: new TagStore(db, authority),
    invitations: new InvitationStore(db),
    activities: new ActivityStore(db, kind),
    wallets: new WalletStore(db, authority),
    privateKeys: new PrivateKeyStore(db, authority),
    imports: new ImportStore(db),
    contractInterfaces: new ContractInterfaceStore(db, authority),
    members: new MemberReader(db),
    mfa: new MfaStore(db, authority),
    networks: new NetworkStore(db, authority),
    policies: new PolicyStore(db, authority),
    sessionProfiles: new SessionProfileStore(db),
    velocity: new VelocityStore(db, kind, authority),
    logins: new LoginStore(db, kind),
    oauth: new OauthStore(db, authority),
    onRamp: new OnRampStore(db),
    authProxy: new AuthProxyStore(db, authority),
    messages: new MessageStore(db, kind),
    webhooks: new WebhookStore(db, kind),
    tvc: new TvcStore(db),
    sends: new SendStore(db, kind),
    balanceWatch: new BalanceWatchStore(db, kind),
    earn: new EarnStore(db, kind),
    sponsorship: new SponsorshipStore(db, kind),
    sealed: new SealedStore(db),
    sealedResults: new SealedResultStore(db, kind),
    clock: new ClockStore(db, kind),
    acceptedBundles: new AcceptedBundleStore(db),
    savepoint: async (inner) => {
      const before = authority.mark();
      try {
        return await savepoint(inner);
      } catch (error) {
        authority.restore(before);
        throw error;
      }
    },
  };
  return { stores, begin: () => authority.begin() };
}
