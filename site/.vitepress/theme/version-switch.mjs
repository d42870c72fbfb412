// @ts-check
import { useData } from 'vitepress';
import { h } from 'vue';

/** Select box with the versions of the documentation that were built together. The newest is at the root. */
export function VersionSwitch() {
  const { version, versions } = useData().theme.value;
  if (versions.length < 2) return undefined;
  const options = versions.map((/** @type {string} */ name) =>
    h('option', { value: name, selected: name === version }, `v${name}`),
  );
  const onChange = (/** @type {{ target: HTMLSelectElement }} */ { target }) => {
    location.href = target.value === versions[0] ? '/' : `/${target.value}/`;
  };
  return h('select', { class: 'version-switch', 'aria-label': 'Version', onChange }, options);
}
