class TautCli < Formula
  desc "@SUMMARY@"
  homepage "@HOME@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@PLACES@
  def install
    bin.install "taut"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/taut.bash" => "taut"
    zsh_completion.install "completions/_taut"
    fish_completion.install "completions/taut.fish"
  end

  def caveats
    "`taut init` puts it on the hooks of your agents; `taut uninstall` takes it off again, before `brew uninstall`."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/taut version")
  end
end
