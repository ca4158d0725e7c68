/** Scripts that complete commands and flags in a shell. They hold everything: to complete a word no program is started. */
import type { Place, Word } from "./tree.ts";

export const SHELLS = ["zsh", "bash", "fish", "powershell"] as const;
export type Shell = (typeof SHELLS)[number];

/** Ends of the names of script files. */
export const EXTENSIONS: Readonly<Record<Shell, string>> = { zsh: "zsh", bash: "bash", fish: "fish", powershell: "ps1" };

const single = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const texts = (words: readonly Word[]): string => words.map(({ text }) => text).join(" ");

/** The function that walks over the words before the one that is typed, in shells that look like sh: it leaves the command in `at`. */
function walk(places: readonly Place[], words: string): string {
  const groups = places
    .filter(({ commands }) => commands.length > 0)
    .map(({ path, commands }) => `    ${single(path)}) below=${single(` ${texts(commands)} `)} ;;\n`);
  const valued = places
    .filter((place) => place.valued.length > 0)
    .map((place) => `    ${single(place.path)}) valued=${single(` ${place.valued.join(" ")} `)} ;;\n`);
  return `_openclaw_below() {
  below=''
  case "$1" in
${groups.join("")}  esac
}
_openclaw_valued() {
  valued=''
  case "$1" in
${valued.join("")}  esac
}
_openclaw_walk() {
  at='' skip=0
  local word below valued
  for word in ${words}; do
    if [ "$skip" = 1 ]; then skip=0; continue; fi
    case "$word" in
      -*) _openclaw_valued "$at"; case "$valued" in *" $word "*) skip=1 ;; esac; continue ;;
    esac
    _openclaw_below "$at"
    case "$below" in *" $word "*) at="\${at:+$at }$word" ;; esac
  done
}
`;
}

function bash(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, flags }) => `    ${single(path)}) commands=${single(texts(commands))} flags=${single(texts(flags))} ;;\n`);
  return `${walk(places, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}_openclaw() {
  local at skip commands='' flags='' current="\${COMP_WORDS[COMP_CWORD]}"
  _openclaw_walk
  [ "$skip" = 1 ] && { COMPREPLY=($(compgen -f -- "$current")); return; }
  case "$at" in
${cases.join("")}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$current")) ;;
  esac
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _openclaw openclaw
`;
}

/** `name:meaning`, as zsh describes words. */
const described = (words: readonly Word[]): string => words.map(({ text, help }) => single(`${text.replaceAll(":", String.raw`\:`)}:${help}`)).join(" ");

function zsh(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, flags }) => `    ${single(path)}) commands=(${described(commands)}) flags=(${described(flags)}) ;;\n`);
  return `#compdef openclaw
${walk(places, `"\${(@)words[2,CURRENT-1]}"`)}_openclaw() {
  local at skip
  local -a commands flags
  _openclaw_walk
  if [ "$skip" = 1 ]; then _files; return; fi
  case "$at" in
${cases.join("")}  esac
  if [[ "$words[CURRENT]" == -* ]]; then _describe -o 'option' flags
  elif (( \${#commands} )); then _describe 'command' commands
  else _files; fi
}
if [ "$funcstack[1]" = "_openclaw" ]; then _openclaw "$@"
elif (( $+functions[compdef] )); then compdef _openclaw openclaw
else autoload -Uz compinit && compinit && compdef _openclaw openclaw; fi
`;
}

const inFish = (text: string): string => `'${text.replaceAll("\\", String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;

function fish(places: readonly Place[]): string {
  const groups = places
    .filter(({ commands }) => commands.length > 0)
    .map(({ path, commands }) => `        case ${inFish(path)}\n          set below ${texts(commands)}\n`);
  const valued = places
    .filter((place) => place.valued.length > 0)
    .map((place) => `        case ${inFish(place.path)}\n          set valued ${place.valued.join(" ")}\n`);
  const lines = places.flatMap(({ path, commands, flags }) => [
    ...commands.map(({ text, help }) => `complete -c openclaw -f -n ${inFish(`__openclaw_at ${inFish(path)}`)} -a ${text} -d ${inFish(help)}\n`),
    ...flags.map(({ text, help }) => `complete -c openclaw -n ${inFish(`__openclaw_at ${inFish(path)}`)} -l ${text.slice(2)} -d ${inFish(help)}\n`),
  ]);
  return `function __openclaw_at
  set -l at ''
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    if string match -q -- '-*' $word
      set -l valued
      switch "$at"
${valued.join("")}      end
      contains -- $word $valued; and set skip 1
      continue
    end
    set -l below
    switch "$at"
${groups.join("")}    end
    contains -- $word $below; and set at (string trim -- "$at $word")
  end
  test "$at" = "$argv[1]"
end
${lines.join("")}`;
}

const inPowerShell = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function powershell(places: readonly Place[]): string {
  const list = (words: readonly Word[]): string => `@(${words.map(({ text, help }) => inPowerShell(`${text}|${help}`)).join(", ")})`;
  const lines = places.map(
    ({ path, commands, flags, valued }) =>
      `  ${inPowerShell(path)} = @{ Commands = ${list(commands)}; Flags = ${list(flags)}; Valued = @(${valued.map(inPowerShell).join(", ")}) }\n`,
  );
  return `$OpenClawPlaces = @{
${lines.join("")}}
Register-ArgumentCompleter -Native -CommandName openclaw -ScriptBlock {
  param($current, $line, $position)
  $at = ''
  $skip = $false
  foreach ($element in ($line.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $position) { break }
    $word = $element.ToString()
    if ($skip) { $skip = $false; continue }
    if ($word.StartsWith('-')) { $skip = $OpenClawPlaces[$at].Valued -contains $word; continue }
    $next = "$at $word".Trim()
    if ($OpenClawPlaces.ContainsKey($next)) { $at = $next }
  }
  $place = $OpenClawPlaces[$at]
  $words = if ("$current".StartsWith('-')) { $place.Flags } else { $place.Commands }
  foreach ($entry in $words) {
    $text, $help = $entry.Split('|', 2)
    if ($text -like "$current*") { [System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $help) }
  }
}
`;
}

const WRITERS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish, powershell };

export const scriptFor = (shell: Shell, places: readonly Place[]): string => WRITERS[shell](places);
