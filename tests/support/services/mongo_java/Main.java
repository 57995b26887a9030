import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import java.util.List;

/** Serves MongoDB's wire protocol on 127.0.0.1 from an H2 file: java -cp 'jars/*' Main.java PORT FILE. */
public class Main {

    /** PyMongo 4.11 and later refuse a server older than MongoDB 4.2, and that is what the library says it is. */
    enum Version implements MongoVersion {
        FIVE;

        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        public int getWireVersion() {
            return 13;
        }

        public String toVersionString() {
            return "5.0.0";
        }
    }

    public static void main(String[] arguments) {
        H2Backend backend = new H2Backend(arguments[1]);
        backend.version(Version.FIVE);
        MongoServer server = new MongoServer(backend);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
        System.out.println("listening");
        System.out.flush();
    }
}
