import { BaseSequencer, type TestSpecification } from "vitest/node";

const longest = /languages\/(?:pages|refusals)\.browser/;

/**
 * Without results of an earlier run, Vitest starts the largest files first. The longest tests are in small ones: they
 * came last, when the other worker had nothing left to do.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(longest.test(b.moduleId)) - Number(longest.test(a.moduleId)));
  }
}
