import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, by waiting for the most part: last, it would be waited for with nothing else to do. */
const LONG = /faults|hostile|policy-reference|operations-every|test\/(integrity|restore|backup|fence)/;

/**
 * Files that share nothing first, because a worker that shares what it has loaded ends when the next file shares nothing. Of
 * the others the long ones first.
 */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isAlone = ({ project }: TestSpecification): boolean => project.config.isolate;
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    const shared = sorted.filter((file) => !isAlone(file));
    return [...sorted.filter(isAlone), ...shared.filter(isLong), ...shared.filter((file) => !isLong(file))];
  }
}
