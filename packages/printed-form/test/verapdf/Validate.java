import java.io.FileInputStream;
import java.util.Set;
import java.util.TreeSet;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

/** Validates PDF/A files: the flavour (3a, 3b), then files. One line per file: its name, and the rules that it breaks. */
public class Validate {
  public static void main(String[] arguments) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    var flavour = PDFAFlavour.byFlavourId(arguments[0]);
    for (int index = 1; index < arguments.length; index++) {
      Set<String> broken = new TreeSet<>();
      try (var parser = Foundries.defaultInstance().createParser(new FileInputStream(arguments[index]), flavour);
          var validator = Foundries.defaultInstance().createValidator(flavour, false)) {
        var result = validator.validate(parser);
        for (var assertion : result.getTestAssertions()) {
          if (assertion.getStatus() != TestAssertion.Status.FAILED) continue;
          broken.add(assertion.getRuleId().getClause() + "-" + assertion.getRuleId().getTestNumber());
        }
        if (!result.isCompliant() && broken.isEmpty()) broken.add("not compliant");
      }
      System.out.println(arguments[index] + "\t" + String.join(" ", broken));
    }
  }
}
