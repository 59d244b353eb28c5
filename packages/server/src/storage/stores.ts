import type { Kysely } from 'kysely';
import { AuthorityVersions } from './authority.ts';
import type { DatabaseKind } from './dialect.ts';
import type { Schema } from './schema.ts';
import { AcceptedBundleStore } from './stores/accepted-bundles.ts';
import { ActivityReader, ActivityStore } from './stores/activities.ts';
import { AuthProxyReader, AuthProxyStore } from './stores/auth-proxy.ts';
import { BalanceWatchReader, BalanceWatchStore } from './stores/balance-watch.ts';
import { ClockReader, ClockStore } from './stores/clock.ts';
import { ContractInterfaceReader, ContractInterfaceStore } from './stores/contract-interfaces.ts';
import { CredentialReader, CredentialStore } from './stores/credentials.ts';
import { DeploymentReader, DeploymentStore } from './stores/deployment.ts';
import { EarnReader, EarnStore } from './stores/earn.ts';
import { ImportReader, ImportStore } from './stores/imports.ts';
import { InvitationReader, InvitationStore } from './stores/invitations.ts';
import { LoginReader, LoginStore } from './stores/logins.ts';
import { MemberReader } from './stores/members.ts';
import { MessageReader, MessageStore } from './stores/messages.ts';
import { MfaReader, MfaStore } from './stores/mfa.ts';
import { NetworkReader, NetworkStore } from './stores/networks.ts';
import { OauthReader, OauthStore } from './stores/oauth.ts';
import { OnRampReader, OnRampStore } from './stores/on-ramp.ts';
import { OrganizationReader, OrganizationStore } from './stores/organizations.ts';
import { PolicyReader, PolicyStore } from './stores/policies.ts';
import { PrincipalReader } from './stores/principals.ts';
import { PrivateKeyReader, PrivateKeyStore } from './stores/private-keys.ts';
import { SealedReader, SealedStore } from './stores/sealed.ts';
import { SealedResultReader, SealedResultStore } from './stores/sealed-results.ts';
import { SendReader, SendStore } from './stores/sends.ts';
import { SessionProfileReader, SessionProfileStore } from './stores/session-profiles.ts';
import { SponsorshipReader, SponsorshipStore } from './stores/sponsorship.ts';
import { TagReader, TagStore } from './stores/tags.ts';
import { TreeReader, TreeStore } from './stores/tree.ts';
import { TvcReader, TvcStore } from './stores/tvc.ts';
import { UserReader, UserStore } from './stores/users.ts';
import { VelocityReader, VelocityStore } from './stores/velocity.ts';
import { WalletReader, WalletStore } from './stores/wallets.ts';
import { WebhookReader } from './stores/webhook-reader.ts';
import { WebhookStore } from './stores/webhooks.ts';

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
