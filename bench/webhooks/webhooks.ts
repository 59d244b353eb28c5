import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { Child, cpuSeconds, machineCpuSeconds, waitForQuiet } from '../child.ts';
import type { Comparison } from '../compare.ts';
import { median, SINGLE, type Summary, summarize, WARM_UP_SECONDS } from '../figures.ts';
import type { Load, Measured } from '../load/load.ts';
import type { Options } from '../options.ts';
import type { DatabaseKind } from '../stage.ts';
import { quantile } from './clock.ts';
import type { Pace, Paced } from './pace.ts';
import type { Posted, Posting } from './poster.ts';
import type { Addresses } from './receiver-process.ts';
import { Receivers } from './receivers.ts';
import { openScene, type Scene } from './scene.ts';

export const WEBHOOK_NAMES = ['deliveries', 'delay', 'signing'] as const;
export type WebhookName = (typeof WEBHOOK_NAMES)[number];

/** Deliveries beside what is sent without a service, or signing beside deliveries. */
export interface WebhookFigure extends Comparison {
  readonly title: string;
  readonly name: WebhookName;
  readonly beside: string;
  /** Deliveries in a second meanwhile, where they are not what is measured. */
  readonly meanwhile?: number;
}

export const webhookTitle = (kind: DatabaseKind, name: WebhookName): string => `${kind} webhooks ${name}`;
