import type { Activity } from '@custos/sdk';
import { useState } from 'react';
import { useDescriptions } from '../../../api/descriptions.ts';
import type { Simulation } from '../../../api/simulation.ts';
import { useApi } from '../../../api/use-api.ts';
import { useNow } from '../../../app/now.ts';
import { useOffReason } from '../../../app/off-reason.ts';
import { Button } from '../../../kit/button.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { Icon } from '../../../kit/icon.tsx';
import { prospectOf, reasonsOf } from '../../../kit/policy-preview.tsx';
import { type Reason, ReasonTree } from '../../../kit/reason-tree.tsx';
import { SameWithLink } from '../../../kit/same-with.tsx';
import { Segmented } from '../../../kit/segmented.tsx';
import { Select } from '../../../kit/select.tsx';
import { activityStatusWord } from '../../../kit/status-mark.tsx';
import { Tag } from '../../../kit/tag.tsx';
import { plainType } from '../../../lib/text.ts';
import { relative } from '../../../lib/time.ts';
import { type Draft, toSupposed } from '../draft.ts';
import { useSettled } from '../use-description.ts';
import { OutcomeCard } from './outcome-card.tsx';
import { type Asked, askedIn } from './past.ts';
import { ReplayBar } from './replay-bar.tsx';
import styles from './simulation.module.css';
import { useReplay } from './use-replay.ts';
import { useWishForm, WishForm } from './wish-form.tsx';

/** So many past requests are offered and tried. */
const PAST_MAX = 20;
/** As the service calls the first draft that replaces no policy. */
const NEW_ID = 'draft-0';
const NO_ACTIVITIES: readonly Activity[] = [];
const NOTHING = { request: { type: '', parameters: {} } };

export interface WhatWouldHappenProps {
  readonly policyId: string | undefined;
  /** The last draft without errors. */
  readonly sound: Draft | undefined;
  readonly hasErrors: boolean;
}

/** A request, past or made up, by the stored policies and with the draft. Nothing is done. */
export function WhatWouldHappen({ policyId, sound, hasErrors }: WhatWouldHappenProps) {
  const [source, setSource] = useState<'past' | 'form'>('past');
  const past = useApi('listActivities', { paginationOptions: { limit: String(PAST_MAX) } }, { keepsPrevious: true });
  const activities = past.data?.activities ?? NO_ACTIVITIES;
  const [chosenId, setChosenId] = useState<string>();
  const chosen = activities.find(({ id }) => id === chosenId) ?? likely(activities);
  const form = useWishForm(source === 'form');
  const asked = source === 'form' ? form.asked : chosen && askedIn(chosen);
  const { stored, draft, parameters } = useBoth(asked, policyId, sound);
  const { replay, start, stop } = useReplay(policyId);
  const off = useOffReason();

  const simulate = (): void => {
    void stored.refetch();
    if (sound === undefined) return;
    void draft.refetch();
    if (activities.length > 0) void start(activities, sound);
  };
  const [before, after] = [stored.data?.simulation, draft.data?.simulation];
  const whatWouldPass = after?.explanation.whatWouldPass;
  return (
    <aside className={styles.rail} aria-label="What would happen">
      <div className={styles.scroll} data-scroll="">
        <div className={styles.choice}>
          <div className={styles.head}>
            <h2>What would happen</h2>
            <Segmented
              label="Request"
              items={[
                { id: 'past', label: 'Past activity' },
                { id: 'form', label: 'Form' },
              ]}
              value={source}
              onChange={setSource}
            />
          </div>
          {source === 'form' ? (
            <WishForm form={form} />
          ) : activities.length === 0 && !past.isPending ? (
            <Empty title="No activities yet" icon="activity">
              What people and programs ask for can be tried here. Until then, fill in the form.
            </Empty>
          ) : (
            <PastChoice activities={activities} chosen={chosen} onChoose={setChosenId} />
          )}
        </div>
        {hasErrors && sound !== undefined && (
          <p className={styles.stale}>
            <Icon name="info" />
            The draft has an error: this is how it was before.
          </p>
        )}
        {asked === undefined ? (
          source === 'form' && <p className={styles.by}>Fill in the form to see it.</p>
        ) : (
          <div className={styles.cards} aria-live="polite">
            <OutcomeCard
              title={policyId === undefined ? 'Without this policy' : 'With the stored policy'}
              simulation={before}
              error={stored.error}
              differs={false}
            />
            <OutcomeCard
              title={policyId === undefined ? 'With this policy' : 'With this draft'}
              simulation={after}
              error={draft.error}
              {...(hasErrors && sound === undefined && { instead: 'Correct the draft to see what it would do.' })}
              differs={before !== undefined && after !== undefined && prospectOf(before) !== prospectOf(after)}
            />
          </div>
        )}
        {asked !== undefined && after !== undefined && after.policyEvaluations.length > 0 && (
          <div className={styles.reasons}>
            <ReasonTree
              key={`${chosen?.id} ${after.status}`}
              reasons={treeOf(after, policyId)}
              {...(whatWouldPass !== undefined && { whatWouldPass: <bdi>{whatWouldPass}.</bdi> })}
            />
          </div>
        )}
        {activities.length > 0 && (
          <ReplayBar
            replay={replay}
            activities={activities}
            draft={sound}
            onStart={() => sound !== undefined && void start(activities, sound)}
            onStop={stop}
          />
        )}
      </div>
      <footer className={styles.footer}>
        <span>
          Simulates as you type. Nothing is changed and no key is used.{' '}
          {parameters !== undefined && <SameWithLink method="simulateActivity" parameters={parameters} />}
        </span>
        <Button
          icon="play"
          busy={(stored.isFetching || draft.isFetching) && asked !== undefined && 'Asking…'}
          off={off ?? (asked === undefined && 'Choose a request first.')}
          hideReason
          onClick={simulate}
        >
          Simulate
        </Button>
      </footer>
    </aside>
  );
}

/** The draft first, with its parts; of the others a sentence each. */
function treeOf(simulation: Simulation, policyId: string | undefined): readonly Reason[] {
  const isDraft = ({ id }: Reason): boolean => id.startsWith(policyId ?? NEW_ID);
  const reasons = reasonsOf(simulation);
  return [...reasons.filter(isDraft), ...reasons.filter((reason) => !isDraft(reason))].map((reason) =>
    isDraft(reason)
      ? {
          ...reason,
          name: (
            <>
              {reason.name === NEW_ID ? 'This policy' : reason.name} <Tag kind="accent">draft</Tag>
            </>
          ),
        }
      : { ...reason, isClosed: reason.decided !== true },
  );
}

/** The same request twice: by what is stored, and with the draft in place of it. */
function useBoth(asked: Asked | undefined, policyId: string | undefined, sound: Draft | undefined) {
  const text = asked === undefined ? '' : JSON.stringify(asked);
  const settled = useSettled(text);
  const now = settled === '' ? undefined : (JSON.parse(settled) as Asked);
  const base = now && {
    request: now.wish,
    ...(now.submitterUserId !== undefined && { submitterUserId: now.submitterUserId }),
  };
  const isOn = base !== undefined && text !== '';
  const parameters = base && sound && { ...base, draftPolicies: [toSupposed(sound, policyId)] };
  const stored = useApi('simulateActivity', base ?? NOTHING, { enabled: isOn });
  const draft = useApi('simulateActivity', parameters ?? NOTHING, {
    enabled: isOn && parameters !== undefined,
    keepsPrevious: true,
  });
  return { stored, draft, parameters: isOn ? (parameters ?? base) : undefined };
}

/** What policies are mostly about comes first. */
const likely = (activities: readonly Activity[]): Activity | undefined =>
  activities.find(({ type }) => /_SIGN_|_SEND_/.test(type)) ?? activities[0];

interface PastChoiceProps {
  readonly activities: readonly Activity[];
  readonly chosen: Activity | undefined;
  readonly onChoose: (activityId: string) => void;
}

function PastChoice({ activities, chosen, onChoose }: PastChoiceProps) {
  const nowMs = useNow();
  const sentences = useDescriptions(activities.map(({ id }) => id));
  const byWhom = ({ votes }: Activity): string => votes[0]?.user.userName ?? 'somebody';
  return (
    <>
      <Select
        label="Past activity"
        hideLabel
        value={chosen?.id}
        onChange={onChoose}
        placeholder="Choose a past activity"
        options={activities.map((activity) => ({
          value: activity.id,
          label: sentences.get(activity.id)?.text ?? plainType(activity.type),
          detail: (
            <>
              by <bdi>{byWhom(activity)}</bdi>, {relative(activity.createdAt, nowMs)},{' '}
              {activityStatusWord(activity.status)}
            </>
          ),
        }))}
      />
      {chosen && (
        <p className={styles.by}>
          by <bdi>{byWhom(chosen)}</bdi> · as if asked now · was {activityStatusWord(chosen.status).toLowerCase()} then
        </p>
      )}
    </>
  );
}
